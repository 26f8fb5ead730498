import type { Context } from '../context.ts'
import { jsonOf } from '../core/json-of.ts'
import { PosthornError } from '../errors.ts'
import { eventInput, type EventInput, mostOfBatch, type StoredEvent } from '../schema/event.ts'
import { JsonText } from '../schema/json-text.ts'
import { parse } from '../schema/parse.ts'
import type { Ingest } from './ingest.ts'
import type { Created, EventService, StoredAnswer } from './services.ts'
import { singleFlight } from '../runtime/single-flight.ts'
import { writableWorkspace } from './resolve-workspace.ts'

/** Publishes events that the host or an API client made. */
export function publishService(ctx: Context, ingest: Ingest): Pick<EventService, 'create' | 'createMany'> {
  const workspaces = singleFlight((idOrName) => writableWorkspace(ctx, idOrName))

  // An id whose configuration is at hand needs no question: storing the event tells whether it is still that workspace.
  const idOf = async (workspace: string) =>
    ctx.configuration.held(workspace)?.workspace.id ?? (await workspaces.ask(workspace)).id

  /** The workspace is asked for once the input is known to be good. */
  async function publish(
    input: EventInput,
    workspaceId: () => string | Promise<string>,
  ): Promise<Created<StoredEvent>> {
    const { id, event_type, unique_id } = parse(eventInput, shallow(input))
    const data = dataText(input)
    await ctx.catalogue.check(event_type, data)
    const { kind, event } = await ingest.into(await workspaceId(), { id, event_type, data, unique_id })
    return { row: event, created: kind === 'stored' }
  }

  return {
    create: (workspace, input) => publish(input, () => idOf(workspace)),

    async createMany(workspace, inputs) {
      if (!Array.isArray(inputs) || inputs.length > mostOfBatch)
        throw new PosthornError('validation', `value must be a list of at most ${mostOfBatch} events`)
      const workspaceId = await idOf(workspace)
      // Entries that are added side by side go together to the storage.
      return await Promise.all(
        inputs.map((input: EventInput) => publish(input, () => workspaceId).catch((cause) => refused(ctx, cause))),
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
