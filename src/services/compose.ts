import type { Context } from '../context.ts'
import { lazy } from '../runtime/lazy.ts'
import { attemptService } from './attempts.ts'
import { type Deliver, deliverService } from './deliver.ts'
import { endpointResources } from './endpoints.ts'
import { eventReads } from './events.ts'
import { type Ingest, ingestService } from './ingest.ts'
import { pluginService } from './plugins.ts'
import { publishService } from './publish.ts'
import type { SecretsService } from '../surface/secrets.ts'
import type { Services, StatusService, UseCases } from './use-cases.ts'
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
  }
}

type Early = ReturnType<typeof earlyServices>
/** All other use cases: those that most processes never see. */
export type LateServices = StatusService & {
  readonly secrets: SecretsService
} & {
  readonly [Noun in keyof UseCases]: Omit<UseCases[Noun], keyof Early[Noun]>
}

type Functions = Readonly<Record<string, Readonly<Record<string, ((...args: unknown[]) => unknown) | undefined>>>>

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
  const early = earlyServices(ctx, ingest) as object as Functions
  const late = lazy(async () => (await import('./on-demand.ts')).lateServices(ctx, ingest, deliver))
  const useCases: Record<string, Record<string, unknown>> = {}
  for (const name of names) {
    const [noun = '', verb = ''] = name.split('.')
    const functions = (useCases[noun] ??= {})
    functions[verb] =
      early[noun]?.[verb] ??
      (async (...args: unknown[]) => ((await late()) as object as Functions)[noun]![verb]!(...args))
  }
  const services = {
    ...(useCases as object as UseCases), // LateServices is all that is not early
    secrets: {
      reseal: async (...asked: Parameters<SecretsService['reseal']>) => (await late()).secrets.reseal(...asked),
      status: async () => (await late()).secrets.status(),
    },
    status: async () => (await late()).status(),
    health: async () => (await late()).health(),
  }
  return { services, ingest, deliver }
}
