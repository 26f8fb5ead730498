import type { CompiledConfiguration, Context } from '../context.ts'
import { jsonOf } from '../core/json-of.ts'
import { PosthornError } from '../errors.ts'
import type { EventInput } from '../schema/catalogue.ts'
import { eventInput, maxBatchSize, type StoredEvent } from '../schema/event.ts'
import { JsonText } from '../schema/json-text.ts'
import { parse } from '../schema/parse.ts'
import type { Ingest } from './ingest.ts'
import type { Created, EventUseCases, StoredAnswer } from './use-cases.ts'
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

  // One async function for the whole way, which waits where there is something to wait for: hundreds of events wait for their batch.
  async function publish(workspaceId: string, input: EventInput): Promise<Created<StoredEvent>> {
    const { id, event_type, unique_id } = parse(eventInput, shallow(input))
    const data = dataText(input)
    const checked = ctx.catalogue.check(event_type, data)
    if (checked !== undefined) await checked
    const configuration = ctx.configuration.held(workspaceId) ?? (await configurationOf(workspaceId))
    const admitted = ingest.admit(configuration.workspace)
    if (admitted !== undefined) await admitted
    const incoming = { id, event_type, data, unique_id }
    const stored = await ingest.under(configuration, incoming)
    const { kind, event } = stored === 'stale' ? await ingest.into(workspaceId, incoming) : stored
    return { row: event, created: kind === 'stored' }
  }

  return {
    create: publish,

    async createMany(workspaceId, inputs) {
      if (!Array.isArray(inputs) || inputs.length > maxBatchSize)
        throw new PosthornError('validation', `value must be a list of at most ${maxBatchSize} events`)
      // Entries that are added side by side go together to the storage.
      return await Promise.all(
        inputs.map((input: EventInput) => publish(workspaceId, input).catch((cause) => refused(ctx, cause))),
      )
    },
  }
}

function refused({ log }: Context, cause: unknown): StoredAnswer {
  if (cause instanceof PosthornError && cause.code !== 'internal') return { error: cause }
  log.error('an event was not stored', { cause })
  return { error: cause instanceof PosthornError ? cause : new PosthornError('internal', 'internal error', { cause }) }
}

/** The gate looks at the form of `data` alone, so a ready text need not be parsed for it. */
function shallow(input: EventInput): unknown {
  if (!(input?.data instanceof JsonText)) return input
  return { ...input, data: input.data.text.trimStart().startsWith('{') ? {} : input.data.toJSON() }
}

function dataText({ data }: EventInput): string {
  return data instanceof JsonText ? data.text : jsonOf(data, 'data')
}
