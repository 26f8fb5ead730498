import type { Context } from '../context.ts'
import { jsonOf } from '../core/json-of.ts'
import type { EventInput } from '../schema/catalogue.ts'
import { eventInput } from '../schema/event.ts'
import { JsonText } from '../schema/json-text.ts'
import { parse } from '../schema/parse.ts'
import type { Ingest } from './ingest.ts'
import type { EventUseCases } from './use-cases.ts'
import { singleFlight } from '../runtime/single-flight.ts'
import { writableWorkspace } from './resolve-workspace.ts'

/** Publishes an event that the host or an API client made. */
export function publishService(ctx: Context, ingest: Ingest): Pick<EventUseCases, 'create'> {
  const workspaces = singleFlight((idOrName) => writableWorkspace(ctx, idOrName))

  return {
    async create(workspace, input) {
      const { id, event_type, unique_id } = parse(eventInput, shallow(input))
      const data = dataText(input)
      await ctx.catalogue.check(event_type, data)
      // An id whose configuration is at hand needs no question: storing the event tells whether it is still that workspace.
      const workspaceId = ctx.configuration.held(workspace)?.workspace.id ?? (await workspaces.ask(workspace)).id
      const { kind, event } = await ingest.into(workspaceId, { id, event_type, data, unique_id })
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
