import type { Context } from '../context.ts'
import { jsonOf } from '../core/json-of.ts'
import { eventInput, type EventInput } from '../schema/event.ts'
import { JsonText } from '../schema/json-text.ts'
import { parse } from '../schema/parse.ts'
import type { Incoming, Ingest, Ingested } from './ingest.ts'
import type { EventService } from './services.ts'
import { singleFlight } from '../runtime/single-flight.ts'
import { defaultWorkspace, makeDefault, unknownWorkspace } from './resolve-workspace.ts'

/** Publishes an event that the host or an API client made. */
export function publishService(ctx: Context, ingest: Ingest): Pick<EventService, 'create'> {
  const defaults = singleFlight(() => makeDefault(ctx))

  /** Nobody may have written the default workspace yet. Events that come side by side have it written together. */
  async function publish(workspaceId: string, incoming: Incoming): Promise<Ingested> {
    let configuration = await ctx.configuration.get(workspaceId)
    if (configuration === null && workspaceId === defaultWorkspace) {
      await defaults.ask(workspaceId)
      configuration = await ctx.configuration.get(workspaceId)
    }
    if (configuration === null) throw unknownWorkspace(workspaceId)
    await ingest.admit(configuration.workspace)
    const stored = await ingest.under(configuration, incoming)
    return stored === 'stale' ? await ingest.into(workspaceId, incoming) : stored
  }

  return {
    async create(workspaceId, input) {
      const { id, event_type, unique_id } = parse(eventInput, shallow(input))
      const data = dataText(input)
      await ctx.catalogue.check(event_type, data)
      const { kind, event } = await publish(workspaceId, { id, event_type, data, unique_id })
      return { row: event, created: kind === 'stored' }
    },
  }
}

/** The gate looks at the form of `data` alone, so a ready text need not be parsed for it. */
function shallow(input: EventInput): unknown {
  if (!(input?.data instanceof JsonText)) return input
  return { ...input, data: input.data.text.trimStart().startsWith('{') ? {} : input.data.toJSON() }
}

function dataText({ data }: EventInput): string {
  return data instanceof JsonText ? data.text : jsonOf(data, 'data')
}
