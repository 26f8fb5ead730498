import type { Context } from '../context.ts'
import { parseJson, sliceProperty } from '../core/json-slice.ts'
import { PosthornError } from '../errors.ts'
import { gatewayInput } from '../schema/event.ts'
import { parse } from '../schema/parse.ts'
import type { Ingest } from '../services/ingest.ts'
import type { Incoming } from '../services/store-event.ts'
import type { Found } from './source-lookup.ts'

/**
 * The event that a body describes; `data` is the very text that came. @throws PosthornError `validation` that tells
 * what is wrong.
 */
export function eventOf(body: Uint8Array): Incoming {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (cause) {
    throw new PosthornError('validation', 'the body is not UTF-8', { cause })
  }
  const { event_type, unique_id } = parse(gatewayInput, parseJson(text))
  return { id: null, event_type, data: sliceProperty(text, 'data')!, unique_id } // the schema saw that `data` exists
}

/**
 * Puts an event of an async source into the inbox, and answers the id that the event will have. Null for an event with
 * a `unique_id`: the id is known only once the event is stored, since an event with that `unique_id` may exist already.
 */
export async function putAside(
  ctx: Context,
  ingest: Ingest,
  incoming: Incoming,
  { configuration }: Found,
): Promise<string | null> {
  const id = ctx.newId()
  const trace = ctx.telemetry?.current()
  await ingest.later({
    ...incoming,
    id,
    workspaceId: configuration.workspace.id,
    received_at: ctx.clock.now(),
    ...(trace && { trace }),
  })
  return incoming.unique_id === null ? id : null
}
