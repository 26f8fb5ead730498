import type { Context } from '../context.ts'
import { attemptService } from './attempts.ts'
import { configurationSync } from './configuration-sync.ts'
import type { Deliver } from './deliver.ts'
import { deliveryService } from './deliveries.ts'
import type { LateServices } from './early-services.ts'
import { eraseService } from './erase.ts'
import { eventListService } from './event-list.ts'
import { eventTypeService } from './event-types.ts'
import { explainService } from './explain.ts'
import type { Ingest } from './ingest.ts'
import { keyedRequestService } from './idempotency-keys.ts'
import { pluginService } from './plugins.ts'
import { replayService } from './replay.ts'
import { retryService } from './manual-retry.ts'
import { endpointHealthService } from './endpoint-health.ts'
import { sourceRequestService } from './source-requests.ts'
import { statsService } from './stats.ts'
import { endpointSecretService } from './secrets/endpoint-secret.ts'
import { resealService } from './secrets/reseal.ts'
import { statusService } from './status.ts'
import { testDeliveryService } from './test-delivery.ts'
import { workspaceService } from './workspaces.ts'

/**
 * The use cases that most processes never call. They lie in a separate module that is loaded at the first call of any
 * of them.
 */
export function lateServices(ctx: Context, ingest: Ingest, deliver: Deliver): LateServices {
  return {
    workspaces: workspaceService(ctx),
    endpoints: {
      ...testDeliveryService(ctx, ingest, deliver),
      ...endpointSecretService(ctx),
      ...endpointHealthService(ctx),
    },
    sources: sourceRequestService(ctx),
    plugins: pluginService(ctx),
    events: {
      ...eventListService(ctx),
      ...eraseService(ctx),
      ...explainService(ctx),
      ...replayService(ctx),
      ...retryService(ctx),
    },
    attempts: attemptService(ctx),
    deliveries: deliveryService(ctx),
    config: configurationSync(ctx),
    eventTypes: eventTypeService(ctx),
    secrets: resealService(ctx),
    takeKey: keyedRequestService(ctx),
    ...statsService(ctx),
    ...statusService(ctx),
  }
}
