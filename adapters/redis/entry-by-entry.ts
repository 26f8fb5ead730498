import { PosthornError } from '../../src/errors.ts'
import { inability } from './answers.ts'

/** What scripts share that answer entry by entry. */
export const aloneFunctions = `
-- Runs a function for one entry. Answers why Redis refused it, or nil, then what the function answers.
local function alone(run, ...)
  local ok, a, b, c = pcall(run, ...)
  if ok then return nil, a, b, c end
  return type(a) == 'table' and a.err or tostring(a)
end

local function isTime(text)
  local time = tonumber(text)
  return time ~= nil and time == time and time > -math.huge and time < math.huge
end
`

/**
 * The error of an entry that Redis refused alone.
 *
 * @throws PosthornError `unavailable` where Redis would refuse every entry, such as without memory. All may be sent again.
 */
export function refusal(text: string): Error {
  const cause = new Error(text)
  const unable = inability(text)
  if (unable !== null) throw new PosthornError('unavailable', unable, { cause })
  return cause
}
