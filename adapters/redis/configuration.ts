import type { Route } from '../../src/contracts/storage/configuration.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { kinds, type Rows } from '../../src/core/row-plan.ts'
import { workspaceRow } from '../../src/core/workspace-row.ts'
import { PosthornError } from '../../src/errors.ts'
import type { Source } from '../../src/schema/source.ts'
import type { Workspace } from '../../src/schema/workspace.ts'
import type { Connection } from './client.ts'
import { rowOf } from './collection.ts'
import { writePlan } from './plan.ts'
import { workspaceFunctions } from './workspace-script.ts'
import { entriesPerScript, rowsOf, run, script } from './scripts.ts'

/**
 * ARGV: workspace, the last position read (collection and id, or both ''), how many. Answers the workspace's row and
 * revision, then collection, id, revision, row and disabled_at of each row; nothing when the workspace does not exist.
 */
const rows = script(
  `${workspaceFunctions}
local room = roomOf(ARGV[1])
if not room then return {} end
local kind, after, left = ARGV[2], ARGV[3], tonumber(ARGV[4])
local reply = {
  redis.call('HGET', tag .. ':workspaces:' .. ARGV[1], 'row'),
  redis.call('HGET', tag .. ':room:' .. room, 'revision'),
}
for _, each in ipairs({ 'endpoints', 'sources', 'plugins' }) do
  if kind == '' or kind == each then
    local from = kind == each and '(' .. after or '-'
    kind = ''
    if left > 0 then
      for _, id in ipairs(redis.call('ZRANGEBYLEX', tag .. ':room:' .. room .. ':' .. each, from, '+', 'LIMIT', 0, left)) do
        local row = redis.call('HMGET', tag .. ':' .. each .. ':' .. id, 'revision', 'row', 'disabled_at')
        for _, value in ipairs({ each, id, row[1], row[2], row[3] or '' }) do reply[#reply + 1] = value end
        left = left - 1
      end
    end
  end
end
return reply`,
  { again: true },
)

/** ARGV: the last source read or '', how many. Answers the revision, then workspace and row of each source. */
const routes = script(
  `${workspaceFunctions}
local reply = { redis.call('GET', tag .. ':routes-revision') or '0' }
local from = ARGV[1] == '' and '-' or '(' .. ARGV[1]
for _, id in ipairs(redis.call('ZRANGEBYLEX', tag .. ':routes', from, '+', 'LIMIT', 0, ARGV[2])) do
  local row = redis.call('HMGET', tag .. ':sources:' .. id, 'room', 'row')
  reply[#reply + 1] = redis.call('HGET', tag .. ':room:' .. row[1], 'id')
  reply[#reply + 1] = row[2]
end
return reply`,
  { again: true },
)

export function redisConfiguration(
  connection: Connection,
  tag: string,
): Pick<Storage, 'configuration' | 'routes' | 'applyConfig'> {
  return {
    configuration: (workspaceId) =>
      steadily(async (restart) => {
        const found: { [K in keyof Rows]: { row: Rows[K]; revision: number }[] } = {
          endpoints: [],
          sources: [],
          plugins: [],
        }
        let head: readonly string[] | null = null
        let position: readonly string[] = ['', '']
        for (;;) {
          const reply = await run(connection, rows, tag, [workspaceId, ...position, entriesPerScript])
          if (reply.length === 0) return null
          if (head !== null && head[1] !== reply[1]) return restart
          head = reply.slice(0, 2)
          const page = rowsOf(reply.slice(2), 5)
          for (const [kind, , ...fields] of page) {
            const of = kind as (typeof kinds)[number] // as the script names it
            found[of].push(rowOf(of, fields) as never) // the collection names the kind
          }
          if (page.length < entriesPerScript) break
          position = page.at(-1)!.slice(0, 2)
        }
        const workspace = workspaceRow(JSON.parse(head[0]!) as Workspace) // written by workspaces
        return { workspace, revision: Number(head[1]), ...found }
      }),

    routes: () =>
      steadily(async (restart) => {
        const found: Route[] = []
        let revision: string | undefined
        for (;;) {
          const reply = await run(connection, routes, tag, [found.at(-1)?.sourceId ?? '', entriesPerScript])
          if (revision !== undefined && revision !== reply[0]) return restart
          revision = reply[0]!
          const page = rowsOf(reply.slice(1), 2) as readonly [string, string][]
          for (const [workspaceId, json] of page) {
            const { id, config } = JSON.parse(json) as Source // written by a plan
            found.push({ workspaceId, sourceId: id, path: config.http.path, methods: config.http.methods })
          }
          if (page.length < entriesPerScript) return { revision: Number(revision), routes: found }
        }
      }),

    async applyConfig(plan, revision) {
      const answer = await writePlan(connection, tag, plan, { kind: 'workspace', revision })
      return answer === 'written' ? 'applied' : answer === 'missing' ? 'conflict' : answer
    },
  }
}

const restart = Symbol('restart')

/** Reads again when rows changed between the pages of a reading, so that the whole is of one moment. */
async function steadily<T>(read: (again: typeof restart) => Promise<T | typeof restart>): Promise<T> {
  for (let tries = 0; tries < 10; tries++) {
    const answer = await read(restart)
    if (answer !== restart) return answer
  }
  throw new PosthornError('unavailable', 'Configuration changes faster than it can be read')
}
