import type { KeyedRequest, KeyedRequests } from '../../src/contracts/storage/keyed-requests.ts'
import type { Connection } from './client.ts'
import { run, script } from './scripts.ts'

/** ARGV: name, hash, token, begun_at, lease_until, note, before. Answers all but the name, as they stand afterwards. */
const take = script(
  `
local key = KEYS[1] .. ':keyed:' .. ARGV[1]
local hash, token, begun, lease, note, before = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7])
local kept = redis.call('HMGET', key, 'hash', 'token', 'begun', 'lease', 'note')
if not kept[1] or tonumber(kept[3]) < before then
  kept = { hash, token, begun, lease, note }
elseif kept[4] ~= '' and tonumber(kept[4]) <= tonumber(begun) and kept[1] == hash then
  kept[2], kept[4] = token, lease
else
  return kept
end
redis.call('HSET', key, 'hash', kept[1], 'token', kept[2], 'begun', kept[3], 'lease', kept[4], 'note', kept[5])
redis.call('PEXPIRE', key, string.format('%.0f', math.max(1000, tonumber(kept[3]) - before)))
return kept`,
  { again: true },
)

/** ARGV: name, token, lease_until, note. */
const update = script(
  `
local key = KEYS[1] .. ':keyed:' .. ARGV[1]
if redis.call('HGET', key, 'token') == ARGV[2] then redis.call('HSET', key, 'lease', ARGV[3], 'note', ARGV[4]) end
return {}`,
  { again: true },
)

/** ARGV: name, token. */
const release = script(
  `
local key = KEYS[1] .. ':keyed:' .. ARGV[1]
if redis.call('HGET', key, 'token') == ARGV[2] then redis.call('DEL', key) end
return {}`,
  { again: true },
)

/** `{tag}:keyed:<workspace and key as JSON>`, a hash that Redis forgets by itself. */
export function redisKeyedRequests(connection: Connection, tag: string): KeyedRequests {
  return {
    async take(request, before) {
      const { workspace_id, key, hash, token, begun_at, lease_until, note } = request
      const args = [nameOf(request), hash, token, begun_at, lease_until ?? '', note, before]
      const kept = await run(connection, take, tag, args)
      const [keptHash, keptToken, begun, lease, keptNote] = kept as [string, string, string, string, string] // as the script says
      return {
        workspace_id,
        key,
        hash: keptHash,
        token: keptToken,
        begun_at: Number(begun),
        lease_until: lease === '' ? null : Number(lease),
        note: keptNote,
      }
    },

    async update(given) {
      await run(connection, update, tag, [nameOf(given), given.token, given.lease_until ?? '', given.note])
    },

    async release(holder) {
      await run(connection, release, tag, [nameOf(holder), holder.token])
    },

    forget: async () => 0,
  }
}

function nameOf({ workspace_id, key }: Pick<KeyedRequest, 'workspace_id' | 'key'>): string {
  return JSON.stringify([workspace_id, key])
}
