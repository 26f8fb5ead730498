import type { Context } from '../context.ts'
import { lazy } from '../runtime/lazy.ts'
import { attemptService } from './attempts.ts'
import { type Deliver, deliverService } from './deliver.ts'
import { endpointResources } from './endpoints.ts'
import { eventReads } from './events.ts'
import { type Ingest, ingestService } from './ingest.ts'
import { pluginService } from './plugins.ts'
import { publishService } from './publish.ts'
import type { SecretsService, Services, StatusService, UseCases } from './services.ts'
import { sourceService } from './sources.ts'

/** The use cases that most processes see. */
function earlyServices(ctx: Context, ingest: Ingest) {
  return {
    workspaces: {},
    endpoints: endpointResources(ctx),
    sources: sourceService(ctx),
    plugins: pluginService(ctx),
    events: { ...eventReads(ctx), ...publishService(ctx, ingest) },
    attempts: attemptService(ctx),
    config: {},
    instance: {},
  }
}

type Early = ReturnType<typeof earlyServices>
/** All other use cases: those that most processes never see. */
export type LateServices = StatusService & {
  readonly secrets: SecretsService
} & {
  readonly [Noun in keyof Early]: Omit<UseCases[Noun], keyof Early[Noun]>
} & Omit<UseCases, keyof Early>

type Call = (...args: unknown[]) => unknown
type Functions = Readonly<Record<string, Readonly<Record<string, Call | undefined>> | Call>>

/**
 * All use cases over one context, with the two services that the worker and the gateway share with them. `names` are those
 * of the use cases, noun and verb. What most processes never do is loaded when it is first asked for.
 */
export function composeServices(
  ctx: Context,
  names: readonly string[],
): { services: Services; ingest: Ingest; deliver: Deliver } {
  const ingest = ingestService(ctx)
  const deliver = deliverService(ctx)
  const early = earlyServices(ctx, ingest)
  const late = lazy(async () => (await import('./on-demand.ts')).lateServices(ctx, ingest, deliver))
  const nouns: Record<string, Record<string, Call>> = {}
  const alone: Record<string, Call> = {}
  for (const name of names) {
    const [noun = '', verb] = name.split('.')
    const call = callOf(early, noun, verb) ?? (async (...args) => callOf(await late(), noun, verb)!(...args))
    if (verb === undefined) alone[noun] = call
    else nouns[noun] = { ...nouns[noun], [verb]: call }
  }
  const services = {
    ...({ ...nouns, ...alone } as object as UseCases), // LateServices is all that is not early
    secrets: {
      reseal: async (...asked: Parameters<SecretsService['reseal']>) => (await late()).secrets.reseal(...asked),
      status: async () => (await late()).secrets.status(),
    },
    status: async () => (await late()).status(),
    health: async () => (await late()).health(),
  }
  return { services, ingest, deliver }
}

/** The function of a use case by noun and verb; those that stand alone have no verb. */
function callOf(functions: object, noun: string, verb: string | undefined): Call | undefined {
  const found = (functions as Functions)[noun]
  return typeof found === 'function' || verb === undefined ? (found as Call | undefined) : found?.[verb]
}
