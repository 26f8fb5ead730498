import type { AttemptQuery, NewAttempt, StoredAttempt, StoredStatus } from '../../src/contracts/storage/attempts.ts'
import { openAttempt } from '../../src/core/attempt.ts'
import { type IdBounds, idBounds } from '../../src/core/id-bounds.ts'
import { inRange } from '../../src/core/time-range.ts'
import { attemptFunctions } from './attempt-script.ts'
import type { Connection } from './client.ts'
import { workspaceNumber } from './collection.ts'
import { attemptConditions, type Condition, eventType, isDueWithin } from './filters.ts'
import { merged } from './merged.ts'
import { type Listing, listing, listOf } from './page.ts'
import { run, script } from './scripts.ts'
import type { Details, Ended } from './settle.ts'
import { timeSources } from './time-sources.ts'

/** ARGV: workspace, event. Answers the name of the event in keys, where the event exists and may have attempts. */
const nameOf = script(
  `${attemptFunctions}
local name = nameOfEvent(ARGV[2])
local key, room = tag .. ':event:' .. name, roomOf(ARGV[1])
if not room or redis.call('HGET', key, 'room') ~= room then return {} end
-- The version before may have written an event under this key. Then the event asked for never had an attempt.
return { not isHash(key .. ':attempts') and name or nil }`,
  { again: true },
)

/** ARGV: workspace, unique_id. Answers the id of the event, or nothing. */
const idByUniqueId = script(
  `${attemptFunctions}
local room = roomOf(ARGV[1])
local event = room and redis.call('HGET', tag .. ':room:' .. room .. ':unique-ids', ARGV[2])
return { event and idOfEvent(nameIn(event)) or nil }`,
  { again: true },
)

/**
 * ARGV: workspace, then names of indexes of its attempts, which begin with a colon. Answers room, whether lists are whole, how
 * many attempts are astray, how many each index has, then the classes of waits.
 */
const outlook = script(
  `${attemptFunctions}
local room = roomOf(ARGV[1])
if not room then return {} end
local index = tag .. ':room:' .. room .. ':attempts'
local whole = redis.call('EXISTS', tag .. ':lists-whole') == 1 and 'whole' or ''
local reply = { room, whole, tostring(redis.call('ZCARD', index .. ':astray')) }
for i = 2, #ARGV do reply[#reply + 1] = tostring(redis.call('ZCARD', index .. ARGV[i])) end
for _, wait in ipairs(redis.call('SMEMBERS', index .. ':waits')) do reply[#reply + 1] = wait end
return reply`,
  { again: true },
)

/** An index with no more attempts is walked alone. */
const fewAttempts = 1000

const brief = ['status', 'planned', 'ended', eventType] as const

/** Lists of attempts. */
export class AttemptLists {
  readonly #connection: Connection
  readonly #tag: string

  constructor(connection: Connection, tag: string) {
    this.#connection = connection
    this.#tag = tag
  }

  /** The attempts of an index. */
  of(
    index: string,
    where: readonly Condition[],
    asked: Pick<AttemptQuery, 'attempted_at' | 'scheduled_at' | 'scheduled_at_by_hand'> = {},
    within: IdBounds = { from: null, to: null },
  ): Listing<StoredAttempt> {
    return listing(this.#connection, this.#tag, {
      index,
      where,
      exact: asked.attempted_at === undefined && asked.scheduled_at_by_hand === undefined,
      within,
      kind: 'attempt',
      fields: brief,
      parse: parserOf(asked),
    })
  }

  /** Attempts of a range of time, from where they stand by their ids; null where only a walk finds all of them. */
  async #ofTime(workspaceId: string, query: AttemptQuery): Promise<Listing<StoredAttempt> | null> {
    const { endpoint_id, status, created_at, scheduled_at } = query
    const isByTime = created_at !== undefined || scheduled_at !== undefined
    const isElsewhere = query.event_id !== undefined || query.unique_id !== undefined
    if (!isByTime || isElsewhere || query.page !== null || query.scheduled_at_by_hand !== undefined) return null
    const names = [
      ...(endpoint_id === undefined ? [] : [`:endpoint:${endpoint_id}`]),
      ...(status === undefined ? [] : [`:status:${status}`]),
    ]
    const reply = await run(this.#connection, outlook, this.#tag, [workspaceId, ...names])
    const [room, whole, astray] = reply
    if (room === undefined) return listOf<StoredAttempt>(null)
    if (whole === '') return null
    const isOurs = astray === '0'
    const sizes = reply.slice(3, 3 + names.length).map(Number)
    const least = Math.min(...sizes)
    const name = names[sizes.indexOf(least)] ?? ''
    const sources = timeSources(query, {
      index: `room:${room}:attempts${name}`,
      room,
      waits: reply.slice(3 + names.length),
      isOurs,
      // Attempts that ended are in the classes too.
      isFew: status === 'OPEN' || least <= fewAttempts,
    })
    const where = attemptConditions(query)
    const asked = { sources, isOurs, where, fields: brief, parse: parserOf(query) }
    return merged(this.#connection, this.#tag, asked)
  }

  /** The narrowest index of the query's, which is never wider than what the event has. */
  async narrowest(workspaceId: string, query: AttemptQuery): Promise<Listing<StoredAttempt>> {
    const ofTime = await this.#ofTime(workspaceId, query)
    if (ofTime !== null) return ofTime
    const connection = this.#connection
    const tag = this.#tag
    const room = await workspaceNumber(connection, tag, workspaceId)
    const { endpoint_id, status, unique_id } = query
    let { event_id } = query
    if (unique_id !== undefined) {
      const [known] = await run(connection, idByUniqueId, tag, [workspaceId, unique_id])
      if (known === undefined || (event_id !== undefined && event_id !== known)) return listOf<StoredAttempt>(null)
      event_id = known
    }
    let name: string | undefined
    if (event_id !== undefined) {
      name = (await run(connection, nameOf, tag, [workspaceId, event_id]))[0]
      if (name === undefined) return listOf<StoredAttempt>(null)
      // Fields of attempts mention the event by its name or by its id, so only the index knows all of them.
      if (name !== event_id) {
        const where = attemptConditions(query).filter(([asked]) => asked !== 'event')
        return this.of(`event:${name}:attempts`, where, query)
      }
    }
    const all = `room:${room}:attempts`
    const indexes = [
      ...(name === undefined ? [] : [{ index: `event:${name}:attempts`, field: 'event' }]),
      ...(endpoint_id === undefined ? [] : [{ index: `${all}:endpoint:${endpoint_id}`, field: 'endpoint' }]),
      ...(status === undefined ? [] : [{ index: `${all}:status:${status}`, field: 'status' }]),
    ]
    const sized = await Promise.all(
      indexes.map(async (each) => ({
        ...each,
        size: Number(await connection.send('ZCARD', [`${tag}:${each.index}`], true)),
      })),
    )
    const { index, field } = sized.toSorted((a, b) => a.size - b.size)[0] ?? { index: all, field: null }
    const where = attemptConditions(query).filter(([asked]) => asked !== field)
    const isByTime = query.created_at !== undefined || query.scheduled_at !== undefined
    return this.of(index, where, query, isByTime && name === undefined ? await this.#bounded(room, query) : undefined)
  }

  /**
   * Between which ids the times asked for lie, unless the workspace has an attempt whose id says nothing of the
   * attempt's time.
   */
  async #bounded(room: string | null, query: AttemptQuery): Promise<IdBounds> {
    const index = `${this.#tag}:room:${room}:attempts`
    const [astray, whole] = await Promise.all([
      this.#connection.send('ZCARD', [`${index}:astray`], true),
      this.#connection.send('EXISTS', [`${this.#tag}:lists-whole`], true),
    ])
    // The version before noted none.
    if (Number(astray) > 0 || whole !== 1) return { from: null, to: null }
    const { scheduled_at, scheduled_at_by_hand, created_at } = query
    return idBounds({
      ...(created_at !== undefined && { created_at }),
      ...(scheduled_at !== undefined && scheduled_at_by_hand === undefined && { scheduled_at }),
    })
  }
}

function parserOf(asked: Pick<AttemptQuery, 'attempted_at' | 'scheduled_at' | 'scheduled_at_by_hand'>) {
  return (_id: string, fields: readonly string[]): StoredAttempt | null => {
    if (fields[1] === '') return null
    const attempt = parseAttempt(fields)
    const isAsked =
      inRange(attempt.attempted_at, asked.attempted_at) &&
      (asked.scheduled_at_by_hand === undefined || isDueWithin(attempt, asked))
    return isAsked ? attempt : null
  }
}

/** An attempt as a list or a script answers it: status, planned, ended, type, and details where they were asked for. */
export function parseAttempt([
  status,
  plannedJson,
  endedJson,
  event_type,
  detailsJson = '',
]: readonly string[]): StoredAttempt {
  const planned = JSON.parse(plannedJson!) as NewAttempt // written by ingest, settle or add
  const ended = endedJson === '' ? {} : (JSON.parse(endedJson!) as Ended) // written by settle
  const details = detailsJson === '' ? null : (JSON.parse(detailsJson) as Details) // written by settle
  const attempt = { ...openAttempt(planned, event_type!), ...ended, status: status as StoredStatus } // likewise
  return {
    ...attempt,
    request: attempt.request && { ...attempt.request, ...details?.request },
    response: attempt.response && { ...attempt.response, ...details?.response },
  }
}
