import type { Context } from '../context.ts'
import { configService } from './configuration-sync.ts'
import type { Deliver } from './deliver.ts'
import { explainService } from './explain.ts'
import type { Ingest } from './ingest.ts'
import { replayService } from './replay.ts'
import { retryService } from './retry.ts'
import { endpointSecretService } from './secrets/endpoint-secret.ts'
import { resealService } from './secrets/reseal.ts'
import { statusService } from './status.ts'
import { testDeliveryService } from './test-delivery.ts'
import { workspaceService } from './workspaces.ts'

/** The use cases that most processes never see, apart so that they are loaded when one of them is first asked for. */
export function onDemandServices(ctx: Context, ingest: Ingest, deliver: Deliver) {
  return {
    ...configService(ctx),
    ...explainService(ctx),
    ...replayService(ctx),
    ...retryService(ctx),
    ...statusService(ctx),
    ...testDeliveryService(ctx, ingest, deliver),
    ...endpointSecretService(ctx),
    secrets: resealService(ctx),
    workspaces: workspaceService(ctx),
  }
}
