/** What scripts over workspaces share. A room is a workspace's number: see keys.ts. */
export const workspaceFunctions = `
local tag = KEYS[1]

local function roomOf(workspace)
  return redis.call('HGET', tag .. ':workspaces:' .. workspace, 'room')
end

-- Whoever raises a revision by this function keeps the number of patterns right: so it stays counted, if it was.
local function raise(room, workspace)
  local key = tag .. ':room:' .. room
  local before = redis.call('HMGET', key, 'revision', 'counted')
  local revision = tostring(redis.call('INCR', tag .. ':revision'))
  redis.call('HSET', key, 'revision', revision)
  if before[1] == before[2] then redis.call('HSET', key, 'counted', revision) end
  redis.call('PUBLISH', tag .. ':changed', 'w' .. workspace)
  return revision
end

local function raiseRoutes()
  redis.call('SET', tag .. ':routes-revision', redis.call('INCR', tag .. ':revision'))
  redis.call('PUBLISH', tag .. ':changed', 'routes')
end

-- Removes a configuration row of the room with all that points at it, and tells whether routes changed.
local function forget(room, kind, id)
  local key = tag .. ':' .. kind .. ':' .. id
  local row = redis.call('HMGET', key, 'room', 'keys', 'endpoint_id', 'source_id')
  if row[1] ~= room then return false end
  for _, held in ipairs(cjson.decode(row[2])) do redis.call('HDEL', tag .. ':holders', held) end
  if row[3] then redis.call('SREM', tag .. ':plugins-of:endpoints:' .. row[3], id) end
  if row[4] then redis.call('SREM', tag .. ':plugins-of:sources:' .. row[4], id) end
  redis.call('ZREM', tag .. ':room:' .. room .. ':' .. kind, id)
  redis.call('DEL', key)
  return kind == 'sources' and redis.call('ZREM', tag .. ':routes', id) == 1
end
`
