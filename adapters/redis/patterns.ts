import { PosthornError } from '../../src/errors.ts'
import type { Endpoint } from '../../src/schema/endpoint.ts'
import type { Connection } from './client.ts'
import { workspaceFunctions } from './workspace-script.ts'
import { rowsOf, run, script } from './scripts.ts'

/**
 * ARGV: workspace, an endpoint to begin beyond or ''. Answers the revision of the workspace, then id, revision, number
 * of patterns and row of endpoints: the number '' where nobody counted, and the row '' where somebody did. It stops at
 * 250 endpoints or 256 KiB of rows. Answers nothing when the workspace does not exist.
 */
const page = script(
  `${workspaceFunctions}
local room, bytes = roomOf(ARGV[1]), 0
if not room then return {} end
local reply = { redis.call('HGET', tag .. ':room:' .. room, 'revision') }
local from = ARGV[2] == '' and '-' or '(' .. ARGV[2]
for _, id in ipairs(redis.call('ZRANGEBYLEX', tag .. ':room:' .. room .. ':endpoints', from, '+', 'LIMIT', 0, 250)) do
  local key = tag .. ':endpoints:' .. id
  local known = redis.call('HMGET', key, 'revision', 'patterns')
  local row = known[2] and '' or redis.call('HGET', key, 'row')
  for _, value in ipairs({ id, known[1], known[2] or '', row }) do reply[#reply + 1] = value end
  bytes = bytes + #row
  if bytes > 262144 then break end
end
return reply`,
  { again: true },
)

/** ARGV: id, revision and number of patterns of endpoints. Numbers stay with the rows that they were counted in. */
const fill = script(
  `${workspaceFunctions}
for i = 1, #ARGV, 3 do
  local key = tag .. ':endpoints:' .. ARGV[i]
  if redis.call('HGET', key, 'revision') == ARGV[i + 1] then redis.call('HSET', key, 'patterns', ARGV[i + 2]) end
end
return {}`,
  { again: true },
)

/**
 * ARGV: workspace, the workspace's revision, the number of patterns of all its endpoints. Answers 1 if it still has the
 * revision.
 */
const finish = script(
  `${workspaceFunctions}
local room = roomOf(ARGV[1])
if not room then return { '1' } end
local key = tag .. ':room:' .. room
if redis.call('HGET', key, 'revision') ~= ARGV[2] then return { '0' } end
redis.call('HSET', key, 'patterns', ARGV[3], 'counted', ARGV[2])
return { '1' }`,
  { again: true },
)

/**
 * Counts the patterns of a workspace that processes of the version before wrote to. It goes in steps of about a
 * millisecond, keeps what it counted, and begins again when somebody writes the configuration meanwhile.
 */
export async function countPatterns(connection: Connection, tag: string, workspaceId: string): Promise<void> {
  for (let tries = 0; tries < 10; tries++) {
    const counted = await countOnce(connection, tag, workspaceId)
    if (counted === null) return
    const [done] = await run(connection, finish, tag, [workspaceId, counted.revision, counted.patterns])
    if (done === '1') return
  }
  throw new PosthornError('unavailable', 'Configuration changes faster than it can be read')
}

async function countOnce(connection: Connection, tag: string, workspaceId: string) {
  let patterns = 0
  let first: string | undefined
  let after = ''
  for (;;) {
    const [revision, ...flat] = await run(connection, page, tag, [workspaceId, after])
    if (revision === undefined) return null
    // The revision of before the first page: `finish` refuses the sum when somebody wrote since.
    first ??= revision
    const rows = rowsOf(flat, 4) as readonly [string, string, string, string][]
    if (rows.length === 0) return { revision: first, patterns }
    const filled: (string | number)[] = []
    for (const [id, version, known, row] of rows) {
      const count = known === '' ? (JSON.parse(row) as Endpoint).events.length : Number(known) // written by a plan
      patterns += count
      if (known === '') filled.push(id, version, count)
    }
    if (filled.length > 0) await run(connection, fill, tag, filled)
    after = rows.at(-1)![0]
  }
}
