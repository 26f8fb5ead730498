import type { Configuration, Route, Stored } from '../../src/contracts/storage/configuration.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import type { Kind, Rows } from '../../src/core/row-plan.ts'
import type { Source } from '../../src/schema/source.ts'
import { number } from '../sql/values.ts'
import type { Database } from './database.ts'
import { change } from './plan.ts'
import { rowOf, workspaceOf } from '../sql/rows.ts'
import { sql } from '../sql/sql.ts'
import type { Notify } from './notify.ts'

/** What delivery and the gateway read, and the config sync. */
export function postgresConfiguration(
  db: Database,
  notify: Notify,
): Pick<Storage, 'configuration' | 'routes' | 'applyConfig'> {
  const { run, t } = db
  return {
    async configuration(workspaceId) {
      const of = (kind: Kind) => sql`
        select ${kind}::text as kind, k.document, k.enabled, k.updated_at, k.revision, k.id
        from ${t[kind]} k join here on here.key = k.workspace`
      const rows = await run(sql`
        with here as materialized (select * from ${t.workspaces} where id = ${workspaceId}::text)
        select 'workspace' as kind, document, null::boolean as enabled, null::bigint as updated_at, revision, id from here
        union all ${of('endpoints')} union all ${of('sources')} union all ${of('plugins')}
        order by id`)
      const workspace = rows.find((row) => row['kind'] === 'workspace')
      if (workspace === undefined) return null
      const stored = <K extends Kind>(kind: K): Stored<Rows[K]>[] =>
        rows
          .filter((row) => row['kind'] === kind)
          .map((row) => ({ row: rowOf(kind, row), revision: number(row['revision']) }))
      return {
        workspace: workspaceOf(workspace),
        revision: number(workspace['revision']),
        endpoints: stored('endpoints'),
        sources: stored('sources'),
        plugins: stored('plugins'),
      } satisfies Configuration
    },

    async routes() {
      const rows = await run(sql`
        select v.revision, w.id as workspace_id, s.id, s.document
        from ${t.revisions} v
        left join (${t.sources} s join ${t.workspaces} w on w.key = s.workspace) on s.enabled
        where v.name = 'routes'
        order by s.id`)
      const routes = rows.flatMap((row): Route[] => {
        if (row['id'] === null) return []
        const { path, methods } = (JSON.parse(row['document'] as string) as Source).config.http // as it was written
        return [{ workspaceId: row['workspace_id'] as string, sourceId: row['id'] as string, path, methods }]
      })
      return { revision: number(rows[0]!['revision']), routes } // the migration made the row
    },

    async applyConfig(plan, from) {
      const answer = await change(db, notify, plan, (seen) => (seen.revision === from ? null : 'conflict'))
      return answer === 'written' ? 'applied' : answer
    },
  }
}
