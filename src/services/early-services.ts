import type { Context } from '../context.ts'
import { endpointResources } from './endpoints.ts'
import { eventReads } from './events.ts'
import type { Ingest } from './ingest.ts'
import type { TakeKey } from './idempotency-keys.ts'
import { publishService } from './publish.ts'
import type { SecretsService } from '../surface/secrets.ts'
import type { StatusService, UseCases } from './use-cases.ts'
import { sourceService } from './sources.ts'

/** The use cases that most processes see. */
export function earlyServices(ctx: Context, ingest: Ingest) {
  return {
    workspaces: {},
    endpoints: endpointResources(ctx),
    sources: sourceService(ctx),
    plugins: {},
    events: { ...eventReads(ctx), ...publishService(ctx, ingest) },
    attempts: {},
    deliveries: {},
    config: {},
    instance: {},
    eventTypes: {},
  }
}

type Early = ReturnType<typeof earlyServices>
/** All other use cases: those that most processes never see. */
export type LateServices = StatusService & {
  readonly secrets: SecretsService
  readonly takeKey: TakeKey
} & {
  readonly [Noun in keyof Early]: Omit<UseCases[Noun], keyof Early[Noun]>
} & Omit<UseCases, keyof Early>
