import type { Bounds, ConfigPlan, Violation } from '../../src/contracts/storage/configuration.ts'
import { type Kind, kinds, type Rows } from '../../src/core/row-plan.ts'
import { type Key, keysOf } from '../../src/core/unique-keys.ts'
import { PosthornError } from '../../src/errors.ts'
import type { Plugin } from '../../src/schema/plugin.ts'
import type { Connection } from './client.ts'
import { countPatterns } from './patterns.ts'
import { workspaceFunctions } from './workspace-script.ts'
import { run, script } from './scripts.ts'

/** What must hold before a plan is looked at. */
export type Guard =
  | { readonly kind: 'new'; readonly of: Kind; readonly id: string }
  | { readonly kind: 'row'; readonly of: Kind; readonly id: string; readonly revision: number }
  | { readonly kind: 'there'; readonly of: Kind; readonly id: string }
  | { readonly kind: 'workspace'; readonly revision: number }

/**
 * Every write of configuration: a plan, judged on the state after all of it, then written whole or not at all.
 *
 * ARGV: workspace; the guard's kind, collection, id and revision; the bounds on endpoints, sources, plugins and
 * patterns, or '' for each; then of each row one, a JSON list of texts: "put" or "remove", collection, id, and for a put row,
 * unique keys (both JSON), enabled, url, endpoint_id, source_id, the number of patterns. Answers "written", "missing", "conflict";
 * "unique" or "owner" with the numbers of the put row and of the row's key, 0 being the id; "full" with the name of the
 * bound that would be exceeded; or "uncounted" where the patterns are to be counted first.
 */
const write = script(
  `${workspaceFunctions}
local workspace, guard, guarded, guardedId, revision = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local room = roomOf(workspace)
if guard == 'workspace' then
  if not room or redis.call('HGET', tag .. ':room:' .. room, 'revision') ~= revision then return { 'conflict' } end
else
  if not room then return { 'missing' } end
  local there = redis.call('HMGET', tag .. ':' .. guarded .. ':' .. guardedId, 'room', 'revision')
  if guard == 'new' then
    if there[1] then return { 'unique', '1', '0' } end
  else
    if there[1] ~= room then return { 'missing' } end
    if guard == 'row' and there[2] ~= revision then return { 'conflict' } end
  end
end

local puts = {}
local put = { endpoints = {}, sources = {}, plugins = {} }
local removed = { endpoints = {}, sources = {}, plugins = {} }
for i = 10, #ARGV do
  local what, kind, id, row, keyText, enabled, url, endpoints, sources, patterns = unpack(cjson.decode(ARGV[i]))
  if what == 'remove' then
    removed[kind][id] = true
  else
    put[kind][id] = true
    puts[#puts + 1] = {
      kind = kind, id = id, row = row, keyText = keyText, keys = cjson.decode(keyText), enabled = enabled,
      url = url, endpoints = endpoints, sources = sources, patterns = tonumber(patterns),
    }
  end
end

local function isOurs(kind, id)
  return redis.call('HGET', tag .. ':' .. kind .. ':' .. id, 'room') == room
end
for _, kind in ipairs({ 'endpoints', 'sources' }) do
  for id in pairs(removed[kind]) do
    if isOurs(kind, id) then
      for _, plugin in ipairs(redis.call('SMEMBERS', tag .. ':plugins-of:' .. kind .. ':' .. id)) do
        removed.plugins[plugin] = true
      end
    end
  end
end

local function clash(kind)
  local claimed = {}
  for number, row in ipairs(puts) do
    if row.kind == kind then
      local there = redis.call('HGET', tag .. ':' .. kind .. ':' .. row.id, 'room')
      if there and there ~= room then return { 'unique', tostring(number), '0' } end
      for n, key in ipairs(row.keys) do
        local holder = redis.call('HGET', tag .. ':holders', key)
        local free = not holder or ((put[kind][holder] or removed[kind][holder]) and isOurs(kind, holder))
        if claimed[key] or not free then return { 'unique', tostring(number), tostring(n) } end
        claimed[key] = true
      end
    end
  end
end
local function orphan()
  for number, row in ipairs(puts) do
    for _, kind in ipairs({ 'endpoints', 'sources' }) do
      local owner = row[kind]
      if owner ~= '' and not put[kind][owner] and (removed[kind][owner] or not isOurs(kind, owner)) then
        return { 'owner', tostring(number) }
      end
    end
  end
end
local violation = clash('endpoints') or clash('sources') or orphan() or clash('plugins')
if violation then return violation end

-- The counts that will grow, and whether they exceed a bound. A count beyond a bound already may stay and shrink.
local more = { endpoints = 0, sources = 0, plugins = 0, patterns = 0 }
for _, row in ipairs(puts) do more.patterns = more.patterns + row.patterns end
for _, kind in ipairs({ 'endpoints', 'sources', 'plugins' }) do
  local function leaves(id)
    if kind == 'endpoints' then
      more.patterns = more.patterns - tonumber(redis.call('HGET', tag .. ':endpoints:' .. id, 'patterns') or '0')
    end
  end
  for id in pairs(put[kind]) do
    if isOurs(kind, id) then leaves(id) else more[kind] = more[kind] + 1 end
  end
  for id in pairs(removed[kind]) do
    if not put[kind][id] and isOurs(kind, id) then
      leaves(id)
      more[kind] = more[kind] - 1
    end
  end
end
for i, kind in ipairs({ 'endpoints', 'sources', 'plugins' }) do
  if ARGV[5 + i] ~= '' and more[kind] > 0
    and redis.call('ZCARD', tag .. ':room:' .. room .. ':' .. kind) + more[kind] > tonumber(ARGV[5 + i]) then
    return { 'full', kind }
  end
end
local counts = redis.call('HMGET', tag .. ':room:' .. room, 'patterns', 'revision', 'counted')
if ARGV[9] ~= '' and more.patterns > 0 and counts[2] ~= counts[3] then return { 'uncounted' } end
local patterns = tonumber(counts[1] or '0') + more.patterns
if ARGV[9] ~= '' and more.patterns > 0 and patterns > tonumber(ARGV[9]) then return { 'full', 'patterns' } end
redis.call('HSET', tag .. ':room:' .. room, 'patterns', patterns)

local now, routesChanged = raise(room, workspace), false
for _, kind in ipairs({ 'endpoints', 'sources', 'plugins' }) do
  for id in pairs(removed[kind]) do routesChanged = forget(room, kind, id) or routesChanged end
  -- Replaced rows give up their unique keys first, so that two rows may swap keys.
  for id in pairs(put[kind]) do routesChanged = forget(room, kind, id) or routesChanged end
end
for _, row in ipairs(puts) do
  local key = tag .. ':' .. row.kind .. ':' .. row.id
  redis.call('HSET', key, 'room', room, 'revision', now, 'row', row.row, 'keys', row.keyText, 'enabled', row.enabled)
  redis.call('ZADD', tag .. ':room:' .. room .. ':' .. row.kind, 0, row.id)
  for _, held in ipairs(row.keys) do redis.call('HSET', tag .. ':holders', held, row.id) end
  if row.url ~= '' then redis.call('HSET', key, 'url', row.url, 'patterns', row.patterns) end
  if row.endpoints ~= '' then
    redis.call('HSET', key, 'endpoint_id', row.endpoints)
    redis.call('SADD', tag .. ':plugins-of:endpoints:' .. row.endpoints, row.id)
  end
  if row.sources ~= '' then
    redis.call('HSET', key, 'source_id', row.sources)
    redis.call('SADD', tag .. ':plugins-of:sources:' .. row.sources, row.id)
  end
  if row.kind == 'sources' and row.enabled == '1' then
    redis.call('ZADD', tag .. ':routes', 0, row.id)
    routesChanged = true
  end
end
if routesChanged then raiseRoutes() end
return { 'written' }`,
  { again: false },
)

/** A unique key as a field of `holders`. */
export function holderKey(kind: Kind, key: Key): string {
  return JSON.stringify([kind, key])
}

/** Writes a plan in one step, if the plan's guard holds. */
export async function writePlan(
  connection: Connection,
  tag: string,
  plan: ConfigPlan,
  guard: Guard,
): Promise<'written' | 'missing' | 'conflict' | Violation> {
  const puts: { readonly row: Rows[Kind]; readonly keys: readonly Key[] }[] = []
  const args: (string | number)[] = [plan.workspaceId, guard.kind]
  args.push(...('of' in guard ? [guard.of, guard.id] : ['', '']), 'revision' in guard ? guard.revision : '')
  const { bounds } = plan
  args.push(...(['endpoints', 'sources', 'plugins', 'patterns'] as const).map((of) => bounds?.[of] ?? ''))
  for (const kind of kinds) {
    for (const id of plan[kind].remove) args.push(JSON.stringify(['remove', kind, id]))
    for (const row of plan[kind].put) {
      const keys = keysOf(plan.workspaceId, kind, row)
      puts.push({ row, keys })
      const texts = ['put', kind, row.id, JSON.stringify(row), JSON.stringify(keys.map((key) => holderKey(kind, key)))]
      texts.push(row.enabled ? '1' : '0', 'request' in row ? row.request.url : '')
      texts.push(...('endpoint_id' in row ? [row.endpoint_id ?? '', row.source_id ?? ''] : ['', '']))
      texts.push('events' in row ? String(row.events.length) : '0')
      args.push(JSON.stringify(texts)) // a client takes a hundred thousand arguments at most
    }
  }
  const [answer, put, key] = await written(connection, tag, plan.workspaceId, args)
  if (answer === 'written' || answer === 'missing' || answer === 'conflict') return answer
  // The script names a bound that it was given.
  if (answer === 'full') return { kind: 'full', of: put as keyof Bounds, max: bounds![put as keyof Bounds] }
  const { row, keys } = puts[Number(put) - 1]! // the script numbers what it was given
  if (answer === 'unique') return { kind: 'unique', key: keys[Number(key) - 1] ?? { id: row.id } }
  const { endpoint_id, source_id } = row as Plugin // others have no owner
  return endpoint_id === null
    ? { kind: 'foreign_key', key: { source_id: source_id! }, references: 'sources' }
    : { kind: 'foreign_key', key: { endpoint_id }, references: 'endpoints' }
}

async function written(connection: Connection, tag: string, workspaceId: string, args: readonly (string | number)[]) {
  for (let tries = 0; tries < 10; tries++) {
    const answer = await run(connection, write, tag, args)
    if (answer[0] !== 'uncounted') return answer
    await countPatterns(connection, tag, workspaceId)
  }
  throw new PosthornError('unavailable', 'Configuration changes faster than it can be read')
}
