import type { Violation, Workspaces } from '../../src/contracts/storage/configuration.ts'
import type { Workspace } from '../../src/schema/workspace.ts'
import { workspaceRow } from '../../src/core/workspace-row.ts'
import type { Connection } from './client.ts'
import { isRowListed } from './filters.ts'
import { listing, type Sized, sized, sizedPage } from './page.ts'
import { workspaceFunctions } from './workspace-script.ts'
import { run, script } from './scripts.ts'

/**
 * A workspace may have its own id as its name, but no other workspace's id or name.
 *
 * ARGV: id, row as JSON, "named" or '', name, and for an update the revision of the row. Answers "written", "missing",
 * "conflict", "id" or "name".
 */
const write = script(
  `${workspaceFunctions}
local id, row, named, name, from = ARGV[1], ARGV[2], ARGV[3] == 'named', ARGV[4], ARGV[5]
local key = tag .. ':workspaces:' .. id
local old = redis.call('HMGET', key, 'room', 'revision', 'name')
local room = old[1]
if from then
  if not room then return { 'missing' } end
  if old[2] ~= from then return { 'conflict' } end
elseif room or redis.call('HEXISTS', tag .. ':names', id) == 1 then
  return { 'id' }
end
if named then
  local holder = redis.call('HGET', tag .. ':names', name)
  if (holder and holder ~= id) or (name ~= id and roomOf(name)) then return { 'name' } end
end
if not room then
  room = tostring(redis.call('INCR', tag .. ':revision'))
  -- A store that begins with this version.
  if room == '1' then
    local time = redis.call('TIME')
    redis.call('SET', tag .. ':lists-whole', time[1] .. string.format('%03d', math.floor(tonumber(time[2]) / 1000)))
  end
  redis.call('HSET', tag .. ':room:' .. room, 'id', id)
  redis.call('ZADD', tag .. ':workspaces', 0, id)
end
if old[3] then
  redis.call('HDEL', tag .. ':names', old[3])
  redis.call('HDEL', key, 'name')
end
if named then
  redis.call('HSET', tag .. ':names', name, id)
  redis.call('HSET', key, 'name', name)
end
redis.call('HSET', key, 'room', room, 'row', row, 'revision', raise(room, id))
return { 'written' }`,
  { again: false },
)

/** ARGV: id or name, and whether a name will do. Answers revision and row, or nothing. */
const find = script(
  `${workspaceFunctions}
local id = ARGV[1]
if ARGV[2] == '1' and not roomOf(id) then id = redis.call('HGET', tag .. ':names', id) end
if not id or not roomOf(id) then return {} end
return redis.call('HMGET', tag .. ':workspaces:' .. id, 'revision', 'row')`,
  { again: true },
)

/** ARGV: id. Configuration goes at once, events and attempts with the purge. */
const remove = script(
  `${workspaceFunctions}
local id = ARGV[1]
local room = roomOf(id)
if not room then return { 'missing' } end
local routesChanged = false
for _, kind in ipairs({ 'plugins', 'endpoints', 'sources' }) do
  for _, row in ipairs(redis.call('ZRANGE', tag .. ':room:' .. room .. ':' .. kind, 0, -1)) do
    routesChanged = forget(room, kind, row) or routesChanged
  end
end
local revision = raise(room, id)
if routesChanged then raiseRoutes() end
local name = redis.call('HGET', tag .. ':workspaces:' .. id, 'name')
if name then redis.call('HDEL', tag .. ':names', name) end
redis.call('DEL', tag .. ':workspaces:' .. id, tag .. ':room:' .. room)
redis.call('ZREM', tag .. ':workspaces', id)
redis.call('ZADD', tag .. ':condemned', revision, room)
return { 'written' }`,
  { again: true },
)

export function redisWorkspaces(connection: Connection, tag: string): Workspaces {
  const written = async (row: Workspace, from: readonly number[]) => {
    const named = row.name === null ? ['', ''] : ['named', row.name]
    const [answer] = await run(connection, write, tag, [row.id, JSON.stringify(row), ...named, ...from])
    return answer as 'written' | 'missing' | 'conflict' | 'id' | 'name' // as the script says
  }
  const violation = (row: Workspace, on: 'id' | 'name'): Violation => ({ kind: 'unique', key: { [on]: row[on] ?? '' } })
  const found = async (idOrName: string, byName: boolean) => {
    const fields = await run(connection, find, tag, [idOrName, byName ? 1 : 0])
    return fields.length === 0 ? null : { row: workspaceOf(fields), revision: Number(fields[0]) }
  }

  return {
    async insert(row) {
      const answer = await written(row, [])
      return answer === 'id' || answer === 'name' ? violation(row, answer) : 'written'
    },
    async update(row, from) {
      const answer = await written(row, [from])
      return answer === 'id' || answer === 'name' ? violation(row, answer) : answer
    },
    get: (id) => found(id, false),
    find: (idOrName) => found(idOrName, true),
    async delete(id) {
      const [answer] = await run(connection, remove, tag, [id])
      return answer === 'written'
    },
    list(query) {
      const rows = listing<Sized<Workspace>>(connection, tag, {
        index: 'workspaces',
        exact: query.name === undefined && query.created_at === undefined && query.metadata === undefined,
        kind: 'workspaces',
        fields: ['revision', 'row'],
        parse(_id, fields) {
          if (fields[1] === '') return null
          const row = workspaceOf(fields)
          return isRowListed(row, query) ? sized(row, fields[1]!) : null
        },
      })
      return sizedPage(rows, query)
    },
  }
}

function workspaceOf([, json]: readonly string[]): Workspace {
  return workspaceRow(JSON.parse(json!) as Workspace) // written by `write`
}
