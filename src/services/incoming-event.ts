import { jsonOf } from '../core/json-of.ts'
import type { EventInput } from '../schema/catalogue.ts'
import { eventInput, type StoredEvent } from '../schema/event.ts'
import { JsonText } from '../schema/json-text.ts'
import { parse } from '../schema/parse.ts'
import type { Incoming, Ingested } from './store-event.ts'
import type { Created } from './use-cases.ts'

/** An event of the host or an API client, as it is stored. @throws PosthornError `validation` */
export function incomingOf(input: EventInput): Incoming {
  const { id, event_type, unique_id } = parse(eventInput, shallow(input))
  return { id, event_type, data: dataText(input), unique_id }
}

/** What publishing answers of an event. */
export function created({ kind, event }: Ingested): Created<StoredEvent> {
  return { row: event, created: kind === 'stored' }
}

/** The gate looks at the form of `data` alone, so a ready text need not be parsed for it. */
function shallow(input: EventInput): unknown {
  if (!(input?.data instanceof JsonText)) return input
  return { ...input, data: input.data.text.trimStart().startsWith('{') ? {} : input.data.toJSON() }
}

function dataText({ data }: EventInput): string {
  return data instanceof JsonText ? data.text : jsonOf(data, 'data')
}
