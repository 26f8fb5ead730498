import type { AttemptSought, TimelineQuery } from '../../src/contracts/storage/events.ts'
import { attemptFunctions } from './attempt-script.ts'
import type { Connection } from './client.ts'
import { type Condition, isLast, soughtConditions } from './filters.ts'
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
    /** What those attempts of the index meet that are not in `times`. */
    readonly where: readonly Condition[]
  } | null
  /** A sorted set by time. */
  readonly times: string
  /** What an attempt is asked, as far as index and set leave that open. */
  readonly sought: readonly Condition[]
}

/**
 * ARGV: workspace, names of sorted sets of its room. Answers room, whether lists are whole, whether the ids of all events tell
 * nothing of their time, and how many each set has.
 */
const sizes = script(
  `${attemptFunctions}
local room = roomOf(ARGV[1])
if not room then return {} end
local function sizeOf(name) return redis.call('ZCARD', tag .. ':room:' .. room .. ':' .. name) end
local isAstray = sizeOf('events:astray') == sizeOf('events')
local isWhole = redis.call('EXISTS', tag .. ':lists-whole') == 1
local reply = { room, isWhole and 'whole' or '', isAstray and 'astray' or '' }
for i = 2, #ARGV do reply[i + 2] = tostring(sizeOf(ARGV[i])) end
return reply`,
  { again: true },
)

/** A walk of a room without the index or the set that has nothing of it. */
export interface NarrowWalk extends Omit<Walk, 'times'> {
  readonly times: Walk['times'] | null
  readonly room: string
  /** The part of `times` in all that is walked, between 0 and 1. */
  readonly part: number
}

/** The narrowest walk; null where there is no such workspace. */
export async function narrowest(
  connection: Connection,
  tag: string,
  workspaceId: string,
  query: TimelineQuery,
): Promise<NarrowWalk | null> {
  const walks = [all(query), ...(query.having === undefined ? [] : walksOf(query.having))]
  const setsOf = ({ ids, times }: Walk) => [ids?.name ?? 'none', times]
  const reply = await run(connection, sizes, tag, [workspaceId, ...walks.flatMap(setsOf)])
  const [room, whole, astray, ...counts] = reply
  if (room === undefined) return null
  const sized = walks.map((walk, i) => {
    const isElsewhere = astray !== '' && walk.ids?.kind === 'event'
    const byId = isElsewhere ? 0 : Number(counts[2 * i])
    const byTime = Number(counts[2 * i + 1])
    const size = byId + byTime
    const ids = byId === 0 ? null : walk.ids
    return { ...walk, room, ids, times: byTime === 0 ? null : walk.times, size, part: byTime / Math.max(1, size) }
  })
  const [first, ...others] = sized
  return (whole === '' ? [] : others).reduce((a, b) => (b.size < a.size ? b : a), first!)
}

function all({ event_type, having = {} }: TimelineQuery): Walk {
  const name = `events${event_type === undefined ? '' : `:type:${event_type}`}`
  return { ids: { name, kind: 'event', where: [] }, times: 'events:astray', sought: soughtConditions(having) }
}

/** Walks each of which meets every event with such an attempt. */
function walksOf(having: AttemptSought): readonly Walk[] {
  const { endpoint_id, ...ofAny } = having
  const { status, ...beside } = ofAny
  const { exhausted, retried, response_status } = beside
  const end = endpoint_id === undefined ? '' : `:${endpoint_id}`
  const last: Condition = [isLast, 'is', 'yes']
  // What a list is of is not asked again.
  const ofList = (name: string, sought: readonly Condition[]): Walk => ({ ids: null, times: `${name}${end}`, sought })
  const attempts = (name: string, times: string, asked: readonly Condition[] = []): Walk => ({
    // Attempts that know a list of theirs are in `times`.
    ids: { name: `attempts:${name}`, kind: 'attempt', where: [...asked, ['later', 'lacks', '']] },
    times,
    sought: soughtConditions(ofAny),
  })
  const found: Walk[] = []
  if (status === 'FAILED' && exhausted) {
    const { exhausted: _, ...answered } = beside
    found.push(ofList('failed', [...soughtConditions(answered), last]))
  }
  if (status === 'FAILED' && response_status !== undefined) {
    const { response_status: _, ...ended } = beside
    found.push(ofList(`answered-${response_status}`, [...soughtConditions(ended), last]))
  }
  if (status === 'CANCELED') found.push(ofList('canceled', [...soughtConditions(beside), last]))
  if (status === 'OPEN' && retried === true) found.push(ofList('retrying', soughtConditions(beside)))
  // Follow-ups are many where an endpoint does not answer.
  if (status === 'OPEN' && retried === false) {
    const ofEndpoint = soughtConditions(endpoint_id === undefined ? {} : { endpoint_id })
    found.push(attempts('status:OPEN', `pending${end}`, ofEndpoint))
  }
  if (endpoint_id !== undefined) found.push(attempts(`endpoint:${endpoint_id}`, `later:${endpoint_id}`))
  return found
}
