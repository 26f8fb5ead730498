import type { Configuration, ConfigurationSince, Route, Stored } from '../../src/contracts/storage/configuration.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { systemClock } from '../../src/clock.ts'
import { type Kind, kinds, type Rows } from '../../src/core/row-plan.ts'
import { inSlices } from '../../src/runtime/slices.ts'
import { number, type Row } from '../sql/values.ts'
import type { Database } from './database.ts'
import { change } from './plan.ts'
import { rowOf, workspaceOf } from '../sql/rows.ts'
import { nothing, type Sql, sql } from '../sql/sql.ts'
import type { Notify } from './notify.ts'

/** What delivery and the gateway read, and the config sync. */
export function postgresConfiguration(
  db: Database,
  notify: Notify,
): Pick<Required<Storage>, 'configuration' | 'configurationSince' | 'routes' | 'applyConfig'> {
  const { run, t } = db

  /** The workspace and the rows that were written after a revision, by id. */
  async function written(workspaceId: string, revision: number, others: Sql = nothing): Promise<readonly Row[]> {
    const of = (kind: Kind) => sql`
      select ${kind}::text as kind, k.document, k.enabled, k.updated_at, k.revision, k.id
      from ${t[kind]} k join here on here.key = k.workspace where k.revision > ${revision}::bigint`
    return await run(sql`
      with here as materialized (select * from ${t.workspaces} where id = ${workspaceId}::text)
      select 'workspace' as kind, document, null::boolean as enabled, null::bigint as updated_at, revision, id from here
      union all ${of('endpoints')} union all ${of('sources')} union all ${of('plugins')} ${others}
      order by id`)
  }

  return {
    configuration: async (workspaceId) => await configurationOf(await written(workspaceId, -1)),

    async configurationSince(workspaceId, revision) {
      const ids = (kind: Kind) => sql`
        (select coalesce(json_agg(k.id order by k.id), '[]') from ${t[kind]} k join here on here.key = k.workspace)`
      const rows = await written(
        workspaceId,
        revision,
        sql`
          union all select 'ids', json_build_object(
            'endpoints', ${ids('endpoints')}, 'sources', ${ids('sources')}, 'plugins', ${ids('plugins')}
          )::text, null, null, null, null from here`,
      )
      const found = await configurationOf(rows)
      if (found === null) return null
      const all = rows.find((row) => row['kind'] === 'ids')!['document'] as string // stands beside the workspace
      return { ...found, ids: JSON.parse(all) as ConfigurationSince['ids'] } // as it was asked
    },

    async routes(keys) {
      const rows = await run(sql`
        select g.n, w.id as workspace_id, s.id
        from unnest(${keys.map(({ path }) => path)}::text[], ${keys.map(({ method }) => method)}::text[])
          with ordinality g (path, method, n)
        join ${t.routes} r on r.path = sha256(convert_to(g.path, 'UTF8')) and r.method = g.method
        join ${t.sources} s on s.id = r.source_id
        join ${t.workspaces} w on w.key = s.workspace`)
      const found: (Route | null)[] = keys.map(() => null)
      for (const row of rows) {
        found[number(row['n']) - 1] = { workspaceId: row['workspace_id'] as string, sourceId: row['id'] as string }
      }
      return found
    },

    async applyConfig(plan, from) {
      const answer = await change(db, notify, plan, (seen) => (seen.revision === from ? null : 'conflict'))
      return answer === 'written' ? 'applied' : answer
    },
  }
}

/** The rows of a workspace, thousands perhaps: parsed in slices, so that the event loop is free in between. */
async function configurationOf(rows: readonly Row[]): Promise<Configuration | null> {
  const workspace = rows.find((row) => row['kind'] === 'workspace')
  if (workspace === undefined) return null
  const stored: { [K in Kind]: Stored<Rows[K]>[] } = { endpoints: [], sources: [], plugins: [] }
  await inSlices(systemClock(), rows, (row) => {
    const kind = kinds.find((each) => each === row['kind'])
    if (kind === undefined) return
    stored[kind].push({ row: rowOf(kind, row), revision: number(row['revision']) } as never) // the row is of the kind
  })
  return { workspace: workspaceOf(workspace), revision: number(workspace['revision']), ...stored }
}
