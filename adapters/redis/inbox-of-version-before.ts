/**
 * The inbox of the version before. Each take takes over messages that nobody holds from it: at most 250 messages and 1
 * MiB. Processes of that version may run meanwhile: they put messages into that inbox and take messages from it, and
 * see no message of this version. `{tag}:inbox:` held
 *
 *     stream    stream  messages waiting and held: id, row (JSON without data), data
 *     messages  hash    id -> "<entry> <tries> <token>" of each
 *     held      zset    ids of messages that were taken, by the end of their lease
 */
export const takeOver = `
local function takeOne(id, before)
  local stream, entry, tries = inbox .. 'stream', string.match(before, '^(%S+) (%S+)')
  local ends = redis.call('ZSCORE', inbox .. 'held', id)
  if ends and tonumber(ends) > tonumber(now) then return 0 end
  local found = redis.call('XRANGE', stream, entry, entry)[1]
  local function letGo()
    redis.call('HDEL', inbox .. 'messages', id)
    redis.call('ZREM', inbox .. 'held', id)
    redis.pcall('XACK', stream, 'workers', entry)
    redis.call('XDEL', stream, entry)
  end
  if not found then
    letGo()
    return 1
  end
  local row, data = found[2][4], found[2][6]
  -- Inside a text of the row quotes stand behind a backslash, so these are fields of the row itself.
  local workspace, at = string.match(row, '"workspaceId":"([^"]*)"'), string.match(row, '"received_at":(%d+)')
  if not find(id) then
    redis.call('HSET', inbox .. 'kept', id, at .. ' ' .. tries .. ' - ' .. workspace)
    redis.call('HSET', inbox .. 'rows', id, row)
    redis.call('HSET', inbox .. 'data', id, data)
    wait(id, at, workspace)
  end
  letGo()
  return #data + 1
end

local function takeOver()
  local cursor, count, size = '0', 0, 0
  for _ = 1, 10 do
    local part = redis.call('HSCAN', inbox .. 'messages', cursor, 'COUNT', 100)
    for i = 1, #part[2], 2 do
      if count == 250 or size > 1048576 then return end
      local taken = takeOne(part[2][i], part[2][i + 1])
      if taken > 0 then count, size = count + 1, size + taken end
    end
    cursor = part[1]
    if cursor == '0' then break end
  end
  if redis.call('EXISTS', inbox .. 'messages') == 0 then redis.call('DEL', inbox .. 'stream', inbox .. 'held') end
end
if redis.call('EXISTS', inbox .. 'stream') == 1 then
  begin()
  takeOver()
end
`
