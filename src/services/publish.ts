import type { CompiledConfiguration, Context } from '../context.ts'
import { PosthornError } from '../errors.ts'
import type { EventInput } from '../schema/catalogue.ts'
import { maxBatchSize, type StoredEvent } from '../schema/event.ts'
import { created, incomingOf } from './incoming-event.ts'
import type { Ingest } from './ingest.ts'
import type { Created, EventUseCases } from './use-cases.ts'
import { lazy } from '../runtime/lazy.ts'
import { singleFlight } from '../runtime/single-flight.ts'
import { defaultWorkspace, makeDefault, unknownWorkspace } from './resolve-workspace.ts'

/** Publishes events that the host or an API client made. */
export function publishService(ctx: Context, ingest: Ingest): Pick<EventUseCases, 'create' | 'createMany'> {
  const defaults = singleFlight(() => makeDefault(ctx))

  /** Nobody may have written the default workspace yet. Events that come side by side have it written together. */
  async function configurationOf(workspaceId: string): Promise<CompiledConfiguration> {
    let configuration = await ctx.configuration.get(workspaceId)
    if (configuration === null && workspaceId === defaultWorkspace) {
      await defaults.ask(workspaceId)
      configuration = await ctx.configuration.get(workspaceId)
    }
    if (configuration === null) throw unknownWorkspace(workspaceId)
    return configuration
  }

  // It waits only where there is something to wait for: hundreds of events wait for their batch, each with the frames of its calls.
  async function publish(workspaceId: string, input: EventInput): Promise<Created<StoredEvent>> {
    const incoming = incomingOf(input)
    const checked = ctx.catalogue.check(incoming.event_type, incoming.data)
    if (checked !== undefined) await checked
    const configuration = ctx.configuration.held(workspaceId) ?? (await configurationOf(workspaceId))
    const admitted = ingest.admit(configuration.workspace)
    if (admitted !== undefined) await admitted
    const stored = await ingest.under(configuration, incoming)
    return created(stored === 'stale' ? await ingest.into(workspaceId, incoming) : stored)
  }

  const many = lazy(async () => (await import('./publish-many.ts')).publishMany(ctx, ingest, publish)) // few hosts publish lists

  return {
    create: publish,

    async createMany(workspaceId, inputs) {
      if (!Array.isArray(inputs) || inputs.length > maxBatchSize)
        throw new PosthornError('validation', `value must be a list of at most ${maxBatchSize} events`)
      const loaded = many()
      const publishAll = loaded instanceof Promise ? await loaded : loaded
      return await publishAll(workspaceId, inputs)
    },
  }
}
