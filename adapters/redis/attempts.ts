import type { Job } from '../../src/contracts/queue.ts'
import type { Attempts, Delivery, Settlement, Undelivered } from '../../src/contracts/storage/attempts.ts'
import { AttemptLists, parseAttempt } from './attempt-lists.ts'
import { attemptFunctions } from './attempt-script.ts'
import { attemptsOfEvents } from './attempts-of-events.ts'
import type { Connection } from './client.ts'
import { workspaceNumber } from './collection.ts'
import { attemptArgs } from './attempt-args.ts'
import { deliveryOf, loadedWidth, loadFunctions } from './loading.ts'
import { attemptConditions, whereIn } from './filters.ts'
import { listing, pageOf } from './page.ts'
import { chunks, rowsOf, run, script } from './scripts.ts'
import { settleAll } from './settle.ts'
import { readTallies } from './tallies.ts'
import { finishBegun } from './wide-events.ts'

/** ARGV: ids. Answers what `loadedOf` does of each open attempt. */
const load = script(
  `${attemptFunctions}${loadFunctions}
local reply = {}
for _, id in ipairs(ARGV) do
  for _, value in ipairs(loadedOf(id) or {}) do reply[#reply + 1] = value end
end
return reply`,
  { again: true },
)

/** ARGV: workspace, whether to enqueue, whether only firsts; then event, and id, endpoint, due, created, planned, "astray" or '' of each attempt. Answers 1 for each that exists now. */
const add = script(
  `${attemptFunctions}
local room, touched, reply = roomOf(ARGV[1]), {}, {}
for i = 4, #ARGV, 7 do
  local event, attempt = nameOfEvent(ARGV[i]), attemptAt(ARGV, i + 1)
  local there = redis.call('HGET', tag .. ':attempt:' .. attempt.id, 'room')
  local fresh = not there and room and redis.call('HGET', tag .. ':event:' .. event, 'room') == room
  if fresh and ARGV[3] == '1' and hasAttempt(room, event, attempt.endpoint) then fresh = false end
  attempt.lists = ARGV[3] == '1' and 'pending' or 'both'
  if fresh then addAttempt(room, event, attempt, ARGV[2] == '1' and touched, ARGV[1]) end
  reply[#reply + 1] = (fresh or (there and there == room)) and '1' or '0'
end
placeAll(touched)
return reply`,
  { again: true },
)

/** ARGV: workspace, id. Answers status, planned, ended, type of the event and details, or nothing. */
const get = script(
  `${attemptFunctions}
local attempt = redis.call('HMGET', tag .. ':attempt:' .. ARGV[2], 'room', 'status', 'planned', 'ended', 'details', 'event')
if not attempt[1] or attempt[1] ~= roomOf(ARGV[1]) then return {} end
local type = redis.call('HGET', tag .. ':event:' .. nameIn(attempt[6]), 'type')
return { attempt[2], attempt[3], attempt[4] or '', type or '', attempt[5] or '' }`,
  { again: true },
)

/**
 * A position that exists no more is put back for a moment, to learn the rank of the position.
 *
 * ARGV: before, due time and id to begin beyond (or both ''), how many. Answers id, due time, endpoint and workspace of
 * each; '' for a deleted workspace.
 */
const overdue = script(
  `${attemptFunctions}
local open, from = tag .. ':open', 0
if ARGV[2] ~= '' then
  local passing = not redis.call('ZSCORE', open, ARGV[3])
  if passing then redis.call('ZADD', open, ARGV[2], ARGV[3]) end
  from = redis.call('ZRANK', open, ARGV[3])
  if passing then redis.call('ZREM', open, ARGV[3]) else from = from + 1 end
end
local reply = {}
local page = redis.call('ZRANGE', open, from, from + tonumber(ARGV[4]) - 1, 'WITHSCORES')
for i = 1, #page, 2 do
  if tonumber(page[i + 1]) >= tonumber(ARGV[1]) then break end
  local attempt = redis.call('HMGET', tag .. ':attempt:' .. page[i], 'room', 'endpoint')
  reply[#reply + 1] = page[i]
  reply[#reply + 1] = page[i + 1]
  reply[#reply + 1] = attempt[2] or ''
  reply[#reply + 1] = nameOf(attempt[1]) or ''
end
return reply`,
  { again: true },
)

/**
 * Of the ids given, those after which nothing came for the same event and endpoint.
 *
 * ARGV: ids. Answers id and event type of each.
 */
const newest = script(
  `${attemptFunctions}
local reply = {}
for _, id in ipairs(ARGV) do
  local event, endpoint, room = unpack(redis.call('HMGET', tag .. ':attempt:' .. id, 'event', 'endpoint', 'room'))
  local name = event and nameIn(event)
  if event and #attemptsTo(room, name, endpoint, '(' .. id) == 0 then
    reply[#reply + 1] = id
    reply[#reply + 1] = redis.call('HGET', tag .. ':event:' .. name, 'type')
  end
end
return reply`,
  { again: true },
)

/** ARGV: workspace, endpoint, ids of events. Answers id and type of those that have no attempt to the endpoint. */
const untried = script(
  `${attemptFunctions}
local reply, room = {}, roomOf(ARGV[1])
for i = 3, #ARGV do
  local name = nameOfEvent(ARGV[i])
  local event = redis.call('HMGET', tag .. ':event:' .. name, 'room', 'type')
  if event[1] and event[1] == room and not hasAttempt(room, name, ARGV[2]) then
    reply[#reply + 1] = ARGV[i]
    reply[#reply + 1] = event[2]
  end
end
return reply`,
  { again: true },
)

export function redisAttempts(connection: Connection, tag: string, announce: () => void): Attempts {
  const lists = new AttemptLists(connection, tag)
  return {
    async load(ids) {
      const deliveries: Delivery[] = []
      for (const part of chunks(ids, 100)) {
        const rows = rowsOf(await run(connection, load, tag, part), loadedWidth)
        deliveries.push(...rows.map(deliveryOf))
      }
      return deliveries
    },

    async settle(settlements, { enqueue }) {
      const settled = await settleAll(connection, tag, settlements, enqueue)
      const isDue = ({ next, settled_at }: Settlement) => next !== null && next.scheduled_at <= settled_at
      if (enqueue && settlements.some(isDue)) announce()
      return settled
    },

    async add(workspaceId, attempts, { enqueue, first = false }) {
      const there: boolean[] = []
      for (const part of chunks(attempts)) {
        const args = part.flatMap((attempt) => [attempt.event_id, ...attemptArgs(attempt)])
        const reply = await run(connection, add, tag, [workspaceId, enqueue ? 1 : 0, first ? 1 : 0, ...args])
        there.push(...reply.map((answer) => answer === '1'))
      }
      if (enqueue && attempts.length > 0) announce()
      return there
    },

    async get(workspaceId, id) {
      const fields = await run(connection, get, tag, [workspaceId, id])
      return fields.length === 0 ? null : parseAttempt(fields)
    },

    async list(workspaceId, query) {
      return pageOf(await lists.narrowest(workspaceId, query), query)
    },

    ofEvents: (workspaceId, eventIds, query) => attemptsOfEvents(connection, tag, workspaceId, eventIds, query),

    async overdue({ before, after, limit }) {
      if (after === null) await finishBegun(connection, tag)
      const jobs: Job[] = []
      let position: readonly (string | number)[] = after ?? ['', '']
      while (jobs.length < limit) {
        const wanted = Math.min(limit - jobs.length, 250)
        const rows = rowsOf(await run(connection, overdue, tag, [before, ...position, wanted]), 4)
        for (const [id, due, group, workspace] of rows as readonly [string, string, string, string][]) {
          if (workspace !== '') jobs.push({ id, workspace, group, due_at: Number(due) })
          position = [due, id]
        }
        if (rows.length < wanted) break
      }
      return jobs
    },

    async undelivered(workspaceId, query) {
      const { status, event_types, endpoint_id, created_at, attempted_at, after, limit } = query
      const room = await workspaceNumber(connection, tag, workspaceId)
      const where = attemptConditions({
        ...(status !== undefined && { status }),
        ...(endpoint_id !== undefined && { endpoint_id }),
        ...(created_at !== undefined && { event_created_at: created_at }),
      })
      const times = attempted_at === undefined ? {} : { attempted_at }
      const ended = lists.of(`room:${room}:attempts:undelivered`, where, times)
      const found: Undelivered[] = []
      for await (const batch of ended.walk(after, true, limit, 0)) {
        for (const part of chunks(batch, 100)) {
          const ids = part.map(({ id }) => id)
          const types = new Map(rowsOf(await run(connection, newest, tag, ids), 2) as readonly [string, string][])
          for (const { id, event_id, endpoint_id } of part) {
            const type = types.get(id)
            if (type === undefined || (event_types !== undefined && !event_types.includes(type))) continue
            if (found.length < limit) found.push({ attemptId: id, event_id, endpoint_id })
          }
        }
        if (found.length >= limit) break
      }
      return found
    },

    async missing(workspaceId, { endpoint_id, created_at, after, limit }) {
      const room = await workspaceNumber(connection, tag, workspaceId)
      const events: { id: string; event_type: string }[] = []
      const looked = listing<{ id: string }>(connection, tag, {
        index: `room:${room}:events`,
        where: whereIn('created', created_at),
        exact: true,
        kind: 'event',
        fields: ['type'],
        parse: (id) => ({ id }),
      })
      const { rows, followed } = await pageOf(looked, { limit, page: null, after, before: null, descending: false })
      const ids = rows.map(({ id }) => id)
      for (const part of chunks(ids, 100)) {
        const found = await run(connection, untried, tag, [workspaceId, endpoint_id, ...part])
        for (const [id, event_type] of rowsOf(found, 2)) events.push({ id: id!, event_type: event_type! }) // rows of two
      }
      return { events, next: followed ? (ids.at(-1) ?? null) : null }
    },

    tallies: (since) => readTallies(connection, tag, since),
  }
}
