import type { ConfigurationSince, Route, Stored } from '../../src/contracts/storage/configuration.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import type { Kind, Rows } from '../../src/core/row-plan.ts'
import { workspaceRow } from '../../src/core/workspace-row.ts'
import { PosthornError } from '../../src/errors.ts'
import type { Workspace } from '../../src/schema/workspace.ts'
import type { Connection } from './client.ts'
import { rowOf } from './collection.ts'
import { holderKey, writePlan } from './plan.ts'
import { workspaceFunctions } from './workspace-script.ts'
import { chunks, entriesPerScript, rowsOf, run, script } from './scripts.ts'

/** A longer row counts as several. */
const bytesOfOne = 2048

/**
 * ARGV: workspace, the last position read (collection and id, or both ''), how many, a revision. Answers the workspace's row and
 * revision, "more" where rows are left, then collection, id, revision, row and disabled_at of each row, '' for the last two where
 * the row was not written after the revision; nothing when the workspace does not exist. Long rows count as several.
 */
const rows = script(
  `${workspaceFunctions}
local room = roomOf(ARGV[1])
if not room then return {} end
local kind, after, left, known = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local reply = {
  redis.call('HGET', tag .. ':workspaces:' .. ARGV[1], 'row'),
  redis.call('HGET', tag .. ':room:' .. room, 'revision'),
  '',
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
        left = left - 1 - math.floor(#(row[1] or '') / ${bytesOfOne})
        if left <= 0 then break end
      end
    end
  end
end
if left <= 0 then reply[3] = 'more' end
return reply`,
  { again: true },
)

/** ARGV: the unique keys of routes, as `holders` has them. Answers workspace and id of the source of each, or '' for both. */
const routes = script(
  `${workspaceFunctions}
local reply = {}
for _, key in ipairs(ARGV) do
  local id = redis.call('HGET', tag .. ':holders', key)
  local room = id and redis.call('HGET', tag .. ':sources:' .. id, 'room')
  local workspace = room and redis.call('HGET', tag .. ':room:' .. room, 'id')
  reply[#reply + 1] = workspace or ''
  reply[#reply + 1] = workspace and id or ''
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
        const page = rowsOf(reply.slice(3), 5)
        for (const [name, id, ...fields] of page) {
          const kind = name as Kind // as the script names it
          ids[kind].push(id!)
          if (fields[1] !== '') found[kind].push(rowOf(kind, fields) as never) // the row is of the kind
        }
        if (reply[2] !== 'more') break
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

    async routes(keys) {
      const found: (Route | null)[] = []
      for (const part of chunks(keys)) {
        const held = part.map(({ path, method }) => holderKey('sources', { method, path }))
        for (const [workspaceId, sourceId] of rowsOf(await run(connection, routes, tag, held), 2)) {
          found.push(sourceId === '' ? null : { workspaceId: workspaceId!, sourceId: sourceId! })
        }
      }
      return found
    },

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
