import type { AttemptSought, TimelineQuery } from '../../src/contracts/storage/events.ts'
import { attemptFunctions } from './attempt-script.ts'
import type { Connection } from './client.ts'
import type { Condition } from './filters.ts'
import { run, script } from './scripts.ts'

/**
 * Where events are looked for, as names behind that of the room. Together the two have all that are asked for, and may have
 * others. An attempt made with its event stands where the event stands in time, so an index of attempts is one of events.
 */
export interface Walk {
  /** An index by id. */
  readonly ids: {
    readonly name: string
    readonly kind: 'event' | 'attempt'
    readonly where: readonly Condition[]
  } | null
  /** A sorted set by time. */
  readonly times: string | null
}

/** ARGV: workspace, names of sorted sets of its room. Answers room, whether lists are whole, and how many each set has. */
const sizes = script(
  `${attemptFunctions}
local room = roomOf(ARGV[1])
if not room then return {} end
local reply = { room, redis.call('EXISTS', tag .. ':lists-whole') == 1 and 'whole' or '' }
for i = 2, #ARGV do reply[i + 1] = tostring(redis.call('ZCARD', tag .. ':room:' .. room .. ':' .. ARGV[i])) end
return reply`,
  { again: true },
)

/** The narrowest walk, with the room; null where there is no such workspace. */
export async function narrowest(
  connection: Connection,
  tag: string,
  workspaceId: string,
  query: TimelineQuery,
): Promise<{ readonly room: string; readonly walk: Walk } | null> {
  const walks = [all(query), ...(query.having === undefined ? [] : walksOf(query.having))]
  const setsOf = ({ ids, times }: Walk) => [ids?.name, times].filter((name) => typeof name === 'string')
  const [room, whole, ...counts] = await run(connection, sizes, tag, [workspaceId, ...walks.flatMap(setsOf)])
  if (room === undefined) return null
  let best = { walk: walks[0]!, size: Infinity }
  for (const walk of whole === '' ? [] : walks) {
    const size = counts.splice(0, setsOf(walk).length).reduce((sum, count) => sum + Number(count), 0)
    if (size < best.size) best = { walk, size }
  }
  return { room, walk: best.walk }
}

function all({ event_type }: TimelineQuery): Walk {
  const name = `events${event_type === undefined ? '' : `:type:${event_type}`}`
  return { ids: { name, kind: 'event', where: [] }, times: 'events:astray' }
}

/** Walks each of which meets every event with such an attempt. */
function walksOf({ endpoint_id, status, exhausted, retried, response_status }: AttemptSought): readonly Walk[] {
  const end = endpoint_id === undefined ? '' : `:${endpoint_id}`
  const ofFailures = (name: string): Walk => ({ ids: null, times: `${name}${end}` })
  const attempts = (name: string, where: readonly Condition[], times: string): Walk => ({
    ids: { name: `attempts:${name}`, kind: 'attempt', where },
    times,
  })
  const found: Walk[] = []
  if (status === 'FAILED' && exhausted) found.push(ofFailures('failed'))
  if (status === 'FAILED' && response_status !== undefined) found.push(ofFailures(`answered-${response_status}`))
  if (status === 'CANCELED') found.push(ofFailures('canceled'))
  if (status === 'OPEN' && retried === true) found.push(ofFailures('retrying'))
  if (status === 'OPEN' && retried === false) {
    // Follow-ups are many where an endpoint does not answer.
    const where: readonly Condition[] = [['planned', 'has', '"trigger_mode":"INITIAL",']]
    const ofEndpoint: readonly Condition[] = endpoint_id === undefined ? [] : [['endpoint', 'is', endpoint_id]]
    found.push(attempts('status:OPEN', [...ofEndpoint, ...where], `pending${end}`))
  }
  if (endpoint_id !== undefined) {
    const where: readonly Condition[] = status === undefined ? [] : [['status', 'is', status]]
    found.push(attempts(`endpoint:${endpoint_id}`, where, `later:${endpoint_id}`))
  }
  return found
}
