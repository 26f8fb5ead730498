import { askText, segment } from '../kit/ask.ts'
import { useLoad } from '../kit/load.ts'
import type { Scope } from '../kit/scope.ts'

/** The text of an event's data as it was received: parsed and written anew, large numbers would change. */
export function useEventText(scope: Scope, id: string): string | undefined {
  const path = `${scope.api}/events/${segment(id)}`
  const { data } = useLoad(`text ${path}`, async (signal) => dataOf(await askText(path, { signal })))
  return data
}

const head = '"data":'

/** The data in the JSON of an event, in which it stands behind id and type, before the time. */
function dataOf(event: string): string {
  const { id, event_type } = JSON.parse(event) as { readonly id: string; readonly event_type: string }
  const start = JSON.stringify({ id, event_type }).length - 1 + 1 + head.length
  const end = event.lastIndexOf(',"ingested_at":')
  return event.slice(start, end)
}
