import { maxUsualData } from '../../src/core/large-data.ts'
import { maxLoadedBytes } from '../../src/core/loaded-bytes.ts'
import { loadedWidth } from './loading.ts'

/**
 * What the reply says of a job: its id and rank, and where the caller loads, `+` and what `loadedOf` answers, `-` where that
 * is nothing, or `?` where the data or the reply is so long that the caller is to ask for it.
 */
export const answering = `
local width, bytes = loads and ${3 + loadedWidth} or 2, 0

local function answerJob(reply, id, rank)
  local at = #reply
  reply[at + 1], reply[at + 2] = id, rank
  if not loads then return end
  local loaded = bytes < ${maxLoadedBytes} and loadedOf(id)
  if loaded and #loaded[5] > ${maxUsualData} then loaded = false end
  reply[at + 3] = loaded and '+' or loaded == nil and '-' or '?'
  for i = 1, ${loadedWidth} do reply[at + 3 + i] = loaded and loaded[i] or '' end
  bytes = bytes + (loaded and #loaded[5] or 0) -- the data
end
`

/** A claim that arrives twice, since its first answer did not come, answers the jobs that it took the first time. */
export const repeated = `
local before = { '' }
for _, id in ipairs(redis.call('ZRANGEBYSCORE', queue .. 'held', lease, lease)) do
  local due, holder, group = findJob(id)
  if string.sub(holder, 1, #token + 1) == token .. '/' then
    for _, value in ipairs({ string.sub(holder, #token + 2), group, '1' }) do before[#before + 1] = value end
    answerJob(before, id, due)
  end
end
if #before > 1 then return before end
`
