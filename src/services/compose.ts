import type { Context } from '../context.ts'
import { attemptService } from './attempts.ts'
import { configService } from './config.ts'
import { type Deliver, deliverService } from './deliver.ts'
import { endpointResources } from './endpoints.ts'
import { eventReads } from './events.ts'
import { explainService } from './explain.ts'
import { type Ingest, ingestService } from './ingest.ts'
import { pluginService } from './plugins.ts'
import { publishService } from './publish.ts'
import { replayService } from './replay.ts'
import { retryService } from './retry.ts'
import type { Services } from './services.ts'
import { sourceService } from './sources.ts'
import { statusService } from './status.ts'
import { testDeliveryService } from './test-delivery.ts'
import { workspaceService } from './workspaces.ts'

/** All use cases over one context, with the two services that the worker and the gateway share with them. */
export function composeServices(ctx: Context): { services: Services; ingest: Ingest; deliver: Deliver } {
  const ingest = ingestService(ctx)
  const deliver = deliverService(ctx)
  const services: Services = {
    workspaces: workspaceService(ctx),
    endpoints: { ...endpointResources(ctx), ...testDeliveryService(ctx, ingest, deliver) },
    sources: sourceService(ctx),
    plugins: pluginService(ctx),
    events: {
      ...eventReads(ctx),
      ...publishService(ctx, ingest),
      ...retryService(ctx),
      ...explainService(ctx),
      ...replayService(ctx),
    },
    attempts: attemptService(ctx),
    config: configService(ctx),
    ...statusService(ctx),
  }
  return { services, ingest, deliver }
}
