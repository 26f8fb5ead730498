import type { Claim, Lease, Queue } from '../../src/contracts/queue.ts'
import { lowRank, rankOf } from '../../src/core/job-rank.ts'
import type { Announcer } from './announce.ts'
import { claimer } from './claim.ts'
import type { Connection } from './client.ts'
import { addedChannel } from './keys.ts'
import type { Listener } from './listener.ts'
import { queueFunctions } from './queue-script.ts'
import { chunks, run, script } from './scripts.ts'

/** ARGV: id, workspace, group, rank and lease or '' of each job. Answers how many are new and wait, then the ids of those held. */
const add = script(
  `${queueFunctions}
local touched, added, reply = {}, 0, { '' }
for i = 1, #ARGV, 5 do
  local id, workspace, group, rank, lease = unpack(ARGV, i, i + 4)
  local how = addJob(id, workspace, group, rank, lease, touched)
  if how == 'waits' then added = added + 1 end
  if how == 'held' then reply[#reply + 1] = id end
end
placeAll(touched)
reply[1] = tostring(added)
return reply`,
  { again: true },
)

/** ARGV: until, then id and token of each job. Answers the ids that are lost. */
const extend = script(
  `${queueFunctions}
local until_, touched, lost = ARGV[1], {}, {}
for i = 2, #ARGV, 2 do
  local id = ARGV[i]
  local _, holder, group = findJob(id)
  if holder ~= ARGV[i + 1] then
    lost[#lost + 1] = id
  else
    if redis.call('ZREM', queue .. 'group:' .. group, id) == 1 then touch(touched, group, holder) end
    redis.call('ZADD', queue .. 'held', until_, id)
  end
end
placeAll(touched)
return lost`,
  { again: true },
)

/** ARGV: id and token of each job. */
const release = script(
  `${queueFunctions}
local touched = {}
for i = 1, #ARGV, 2 do
  local id = ARGV[i]
  local rank, holder, group = findJob(id)
  if holder == ARGV[i + 1] then giveJobBack(id, rank, holder, group, touched) end
end
placeAll(touched)
return {}`,
  { again: true },
)

/** ARGV: id and token of each job. */
const complete = script(
  `${queueFunctions}
local touched = {}
for i = 1, #ARGV, 2 do completeJob(ARGV[i], ARGV[i + 1], touched) end
placeAll(touched)
return {}`,
  { again: true },
)

/** ARGV: group and end of each pause. */
const pause = script(
  `${queueFunctions}
local touched = {}
for i = 1, #ARGV, 2 do
  redis.call('ZADD', queue .. 'paused', 'GT', ARGV[i + 1], ARGV[i])
  touched[ARGV[i]] = false
end
placeAll(touched)
return {}`,
  { again: true },
)

/** ARGV: groups. */
const resume = script(
  `${queueFunctions}
local touched = {}
for _, group in ipairs(ARGV) do
  if redis.call('ZREM', queue .. 'paused', group) == 1 then touched[group] = false end
end
placeAll(touched)
return {}`,
  { again: true },
)

/** ARGV: now. Answers the number of jobs and the oldest due time, or ''. Of lapsed holds it looks at 500. */
const stats = script(
  `${queueFunctions}
local now, oldest = tonumber(ARGV[1]), nil
local function see(due)
  due = tonumber(due)
  if due and due <= now and (not oldest or due < oldest) then oldest = due end
end
for _, index in ipairs({ 'oldest', 'stopped', 'ready', 'blocked' }) do
  see(redis.call('ZRANGE', queue .. index, 0, 0, 'WITHSCORES')[2])
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', queue .. 'held', '-inf', ARGV[1], 'LIMIT', 0, 500)) do
  see(dueOf((findJob(id))))
end
return { tostring(redis.call('HLEN', queue .. 'jobs')), oldest and string.format('%.0f', oldest) or '' }`,
  { again: true },
)

/** Answers the time, or nothing. Of paused groups and of held jobs it looks at the 250 that come back first. */
const nextDueAt = script(
  `${queueFunctions}
local nearest
local function see(at)
  if at and (not nearest or at < nearest) then nearest = at end
end
see(tonumber(redis.call('ZRANGE', queue .. 'lines', 0, 0, 'WITHSCORES')[2]))
see(tonumber(redis.call('ZRANGE', queue .. 'ready', 0, 0, 'WITHSCORES')[2]))
local paused = redis.call('ZRANGE', queue .. 'paused', 0, 249, 'WITHSCORES')
for i = 1, #paused, 2 do
  local over = tonumber(paused[i + 1])
  if nearest and over >= nearest then break end
  local _, due = oldestOf(paused[i])
  if due then see(math.max(over, tonumber(due))) end
end
local held = redis.call('ZRANGE', queue .. 'held', 0, 249, 'WITHSCORES')
for i = 1, #held, 2 do
  local over = tonumber(held[i + 1])
  if nearest and over >= nearest then break end
  local rank, _, group = findJob(held[i])
  see(math.max(over, tonumber(dueOf(rank)), tonumber(redis.call('ZSCORE', queue .. 'paused', group) or 0)))
end
return nearest and { string.format('%.0f', nearest) } or {}`,
  { again: true },
)

/** A lease as scripts read it; '' where a job has none. */
export function leaseText(lease: Lease | undefined): string {
  return lease === undefined ? '' : `${lease.from} ${lease.until} ${lease.token}`
}

/** Jobs, or groups, that one run of a script changes: 20 microseconds each, while all others wait. */
const jobsPerScript = 100

/** Due jobs of a group that are counted at most. */
const maxCounted = 10_000

export function redisQueue(connection: Connection, tag: string, listener: Listener, announcer: Announcer): Queue {
  const holds = (claims: readonly Claim[]) => claims.flatMap(({ id, token }) => [id, token])

  return {
    takesLeases: true,
    async add(jobs) {
      let added = 0
      const held: string[] = []
      for (const part of chunks(jobs, jobsPerScript)) {
        const args = part.flatMap((job) => [job.id, job.workspace, job.group, rankOf(job), leaseText(job.lease)])
        const [count, ...ids] = await run(connection, add, tag, args)
        added += Number(count)
        held.push(...ids)
      }
      if (added > 0) announcer.announce()
      return held
    },
    claim: claimer(connection, tag),
    async extend(claims, until) {
      const lost: string[] = []
      for (const part of chunks(claims, jobsPerScript)) {
        lost.push(...(await run(connection, extend, tag, [until, ...holds(part)])))
      }
      return lost
    },
    async release(claims) {
      for (const part of chunks(claims, jobsPerScript)) await run(connection, release, tag, holds(part))
      if (claims.length > 0) announcer.announce()
    },
    async complete(claims) {
      for (const part of chunks(claims, jobsPerScript)) await run(connection, complete, tag, holds(part))
    },
    async pause(groups) {
      for (const part of chunks(groups, jobsPerScript)) {
        await run(
          connection,
          pause,
          tag,
          part.flatMap(({ group, until }) => [group, until]),
        )
      }
    },
    async resume(groups) {
      for (const part of chunks(groups, jobsPerScript)) await run(connection, resume, tag, part)
      if (groups.length > 0) announcer.announce()
    },
    async pausedUntil(group, now) {
      const until = await connection.send('ZSCORE', [`${tag}:queue:paused`, group], true)
      return until !== null && Number(until) > now ? Number(until) : null
    },
    async dueOf(group, now) {
      const key = `${tag}:queue:group:${group}`
      const [usual, low] = await Promise.all([
        connection.send('ZCOUNT', [key, '-inf', String(now)], true),
        connection.send('ZCOUNT', [key, String(lowRank), String(lowRank + now)], true),
      ])
      return Math.min(Number(usual) + Number(low), maxCounted)
    },
    async stats(now) {
      const [size, oldest] = await run(connection, stats, tag, [now])
      return { size: Number(size), oldestDueAt: oldest === '' ? null : Number(oldest) }
    },
    async nextDueAt() {
      const [at] = await run(connection, nextDueAt, tag, [])
      return at === undefined ? null : Number(at)
    },
    ...(listener.able && {
      onAdded: (wake: (where: 'here' | 'elsewhere') => void) =>
        listener.listen(addedChannel(tag), (message) => wake(message === announcer.origin ? 'here' : 'elsewhere')),
    }),
  }
}
