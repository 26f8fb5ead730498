import type { Collection, PluginQuery, Stored } from '../../src/contracts/storage/configuration.ts'
import { type Kind, planFor, type Rows } from '../../src/core/row-plan.ts'
import { endpointRow } from '../../src/core/endpoint-row.ts'
import { goneEndpoint } from '../../src/core/gone-endpoint.ts'
import type { Endpoint } from '../../src/schema/endpoint.ts'
import type { Connection } from './client.ts'
import { isRowListed } from './filters.ts'
import { type Listing, listing, type Sized, sized, sizedPage } from './page.ts'
import { writePlan } from './plan.ts'
import { workspaceFunctions } from './workspace-script.ts'
import { run, script } from './scripts.ts'

/** The fields of a configuration row that make what is handed out. */
const rowFields = ['revision', 'row', 'disabled_at'] as const

/** ARGV: workspace, collection, id. Answers the fields, or nothing. */
const get = script(
  `${workspaceFunctions}
local row = redis.call('HMGET', tag .. ':' .. ARGV[2] .. ':' .. ARGV[3], 'room', 'revision', 'row', 'disabled_at')
if not row[1] or row[1] ~= roomOf(ARGV[1]) then return {} end
return { row[2], row[3], row[4] or '' }`,
  { again: true },
)

/** The room of a workspace, or null. */
export async function workspaceNumber(
  connection: Connection,
  tag: string,
  workspaceId: string,
): Promise<string | null> {
  return (await connection.send('HGET', [`${tag}:workspaces:${workspaceId}`, 'room'], true)) as string | null // a string or nothing
}

/** Endpoints, sources or plugins. */
export function redisCollection<K extends Kind>(
  kind: K,
  connection: Connection,
  tag: string,
): Collection<Rows[K], PluginQuery> {
  return {
    async insert(workspaceId, row, bounds) {
      const answer = await writePlan(connection, tag, planFor(workspaceId, kind, [row], [], bounds), {
        kind: 'new',
        of: kind,
        id: row.id,
      })
      // Only a guard that asks for a revision answers a conflict.
      return answer as Exclude<typeof answer, 'conflict'>
    },

    async get(workspaceId, id) {
      const fields = await run(connection, get, tag, [workspaceId, kind, id])
      return fields.length === 0 ? null : rowOf(kind, fields)
    },

    async list(workspaceId, query) {
      const room = await workspaceNumber(connection, tag, workspaceId)
      const { limit: _l, page: _p, after: _a, before: _b, descending: _d, maxBytes: _m, ...filters } = query
      const rows: Listing<Sized<Rows[K]>> = listing(connection, tag, {
        index: `room:${room}:${kind}`,
        exact: Object.values(filters).every((filter) => filter === undefined),
        kind,
        fields: rowFields,
        parse(_id, fields) {
          if (fields[1] === '') return null
          const { row } = rowOf(kind, fields)
          return isRowListed(row, query) ? sized(row, fields[1]!) : null
        },
      })
      return sizedPage(rows, query)
    },

    update(workspaceId, row, revision, bounds) {
      return writePlan(connection, tag, planFor(workspaceId, kind, [row], [], bounds), {
        kind: 'row',
        of: kind,
        id: row.id,
        revision,
      })
    },

    async delete(workspaceId, id) {
      const plan = planFor(workspaceId, kind, [], [id])
      return (await writePlan(connection, tag, plan, { kind: 'there', of: kind, id })) === 'written'
    },
  }
}

/** A configuration row. Whether storage disabled the endpoint since then stands in another field. */
export function rowOf<K extends Kind>(kind: K, [revision, json, disabledAt]: readonly string[]): Stored<Rows[K]> {
  const document = JSON.parse(json!) as Rows[K] // written by a plan
  const stored = (row: Endpoint | Rows[K]) => ({ row: row as Rows[K], revision: Number(revision) }) // of the kind
  if (kind !== 'endpoints') return stored(document)
  const endpoint = endpointRow(document as Endpoint) // the kind says so
  const isGone = disabledAt !== undefined && disabledAt !== ''
  return stored(isGone ? goneEndpoint(endpoint, Number(disabledAt)) : endpoint)
}
