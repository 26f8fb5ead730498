import type { Grant, Limiter } from '../../src/contracts/limiter.ts'
import type { Connection } from './client.ts'
import { chunks, rowsOf, run, script } from './scripts.ts'

/**
 * `applyRateLimit` of core/rate-limit.ts, restated: the same integers in microseconds, in the same order of operations.
 * `{tag}:limit:<key>` is the theoretical arrival time. A key is forgotten a minute after the whole burst is back, so
 * that callers whose clocks differ by less are judged alike.
 *
 * ARGV: now, then key, quota, period and wanted of each limit. Answers granted, remaining, retryAfterMs, resetMs of each.
 */
const take = script(
  `
local now, reply = tonumber(ARGV[1]), {}
local function answer(granted, remaining, retryAfter, reset)
  for _, figure in ipairs({ granted, remaining, retryAfter, reset }) do
    reply[#reply + 1] = string.format('%.0f', figure)
  end
end
for i = 2, #ARGV, 4 do
  local key, quota, wanted = KEYS[1] .. ':limit:' .. ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 3])
  local period = math.min(tonumber(ARGV[i + 2]), 1000000000) * 1000000
  if quota == 0 then
    answer(0, 0, period / 1000, period / 1000)
  else
    local start = now * 1000
    local full = start + period
    local stored = tonumber(redis.call('GET', key) or start)
    local before = math.min(math.max(stored, start), full)
    local granted = math.min(wanted, math.floor(((full - before) * quota) / period))
    local after = before + math.floor((granted * period) / quota)
    local remaining = math.floor(((full - after) * quota) / period)
    local reset = math.ceil((after - start) / 1000)
    if granted > 0 or stored > full then
      redis.call('SET', key, string.format('%.0f', after), 'PX', string.format('%.0f', reset + 60000))
    end
    local wait = remaining > 0 and 0 or math.ceil((after + math.ceil(period / quota) - full) / 1000)
    answer(granted, remaining, wait, reset)
  end
end
return reply`,
  // A lost answer may have used up grants. Fewer are sent then, never more.
  { again: true },
)

export function redisLimiter(connection: Connection, tag: string): Limiter {
  return {
    async take(wants, now) {
      const grants: Grant[] = []
      for (const part of chunks(wants)) {
        const args = part.flatMap(({ key, limit, want }) => [key, limit.quota, limit.period, want])
        for (const row of rowsOf(await run(connection, take, tag, [now, ...args]), 4)) {
          const [granted, remaining, retryAfterMs, resetMs] = row.map(Number) as [number, number, number, number]
          grants.push({ granted, remaining, retryAfterMs, resetMs })
        }
      }
      return grants
    },
  }
}
