import type { ConfigurationSince, Route, Stored } from '../../src/contracts/storage/configuration.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import type { Kind, Rows } from '../../src/core/row-plan.ts'
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
 * ARGV: workspace, the last position read (collection and id, or both ''), how many, a revision. Answers the workspace's row and
 * revision, then collection, id, revision, row and disabled_at of each row, '' for the last two where the row was not written
 * after the revision; nothing when the workspace does not exist.
 */
const rows = script(
  `${workspaceFunctions}
local room = roomOf(ARGV[1])
if not room then return {} end
local kind, after, left, known = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
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
        local key, row = tag .. ':' .. each .. ':' .. id, {}
        local revision = redis.call('HGET', key, 'revision')
        if tonumber(revision) > known then row = redis.call('HMGET', key, 'row', 'disabled_at') end
        for _, value in ipairs({ each, id, revision, row[1] or '', row[2] or '' }) do reply[#reply + 1] = value end
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
): Pick<Required<Storage>, 'configuration' | 'configurationSince' | 'routes' | 'applyConfig'> {
  /** A configuration with the rows that were written after a revision, and the ids of all. */
  const written = (workspaceId: string, revision: number): Promise<ConfigurationSince | null> =>
    steadily(async (restart) => {
      const found: { [K in Kind]: Stored<Rows[K]>[] } = { endpoints: [], sources: [], plugins: [] }
      const ids: { [K in Kind]: string[] } = { endpoints: [], sources: [], plugins: [] }
      let head: readonly string[] | null = null
      let position: readonly string[] = ['', '']
      for (;;) {
        const reply = await run(connection, rows, tag, [workspaceId, ...position, entriesPerScript, revision])
        if (reply.length === 0) return null
        if (head !== null && head[1] !== reply[1]) return restart
        head = reply.slice(0, 2)
        const page = rowsOf(reply.slice(2), 5)
        for (const [name, id, ...fields] of page) {
          const kind = name as Kind // as the script names it
          ids[kind].push(id!)
          if (fields[1] !== '') found[kind].push(rowOf(kind, fields) as never) // the row is of the kind
        }
        if (page.length < entriesPerScript) break
        position = page.at(-1)!.slice(0, 2)
      }
      const workspace = workspaceRow(JSON.parse(head[0]!) as Workspace) // written by workspaces
      return { workspace, revision: Number(head[1]), ...found, ids }
    })

  return {
    async configuration(workspaceId) {
      const found = await written(workspaceId, -1)
      if (found === null) return null
      const { ids: _ids, ...whole } = found
      return whole
    },
    configurationSince: written,

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
