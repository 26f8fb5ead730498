import type { Context } from '../context.ts'
import { lazy } from '../runtime/lazy.ts'
import type { Deliver } from './deliver.ts'
import { earlyServices } from './early-services.ts'
import { type Ingest, ingestService } from './ingest.ts'
import type { SecretsService } from '../surface/secrets.ts'
import type { TakeKey } from './idempotency-keys.ts'
import type { Services, UseCases } from './use-cases.ts'

type Call = (...args: unknown[]) => unknown
type Functions = Readonly<Record<string, Readonly<Record<string, Call | undefined>> | Call>>

/**
 * All use cases over one context, with the two services that the worker and the gateway use too. `names` are the names
 * of the use cases, noun and verb. Use cases that most processes never call are loaded at their first call.
 */
export function composeServices(
  ctx: Context,
  names: readonly string[],
): { services: Services; ingest: Ingest; deliver: () => Deliver | Promise<Deliver> } {
  const ingest = ingestService(ctx)
  const deliver = lazy(async () => (await import('./deliver.ts')).deliverService(ctx))
  const early = earlyServices(ctx, ingest)
  const late = lazy(async () => (await import('./on-demand.ts')).lateServices(ctx, ingest, await deliver()))
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
    takeKey: async (...asked: Parameters<TakeKey>) => (await late()).takeKey(...asked),
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
