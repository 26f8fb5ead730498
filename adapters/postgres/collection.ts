import type { Collection, Inserted, PluginQuery } from '../../src/contracts/storage/configuration.ts'
import { type Kind, planFor, type Rows } from '../../src/core/row-plan.ts'
import { number } from '../sql/values.ts'
import type { Database } from './database.ts'
import { named, pageOf, equals } from '../sql/page.ts'
import type { PlanContext } from './plan-context.ts'
import { judgedInside } from './replace-row.ts'
import { rowOf } from '../sql/rows.ts'
import type { ChangeRow } from './side-by-side.ts'
import { all, raw, sql } from '../sql/sql.ts'

/** Endpoints, sources or plugins. */
export function postgresCollection<K extends Kind>(
  kind: K,
  db: Database,
  changeRow: ChangeRow,
): Collection<Rows[K], PluginQuery> {
  const { run, t } = db
  const keyOf = (workspaceId: string) => sql`(select key from ${t.workspaces} where id = ${workspaceId}::text)`

  return {
    insert: (workspaceId, row, bounds) =>
      changeRow(planFor(workspaceId, kind, [row], [], bounds), (seen): Inserted | null => {
        if (seen.revision === null) return 'missing'
        return seen.rows[kind].has(row.id) ? { kind: 'unique', key: { id: row.id } } : null
      }),

    async get(workspaceId, id) {
      const [row] = await run(sql`
        select document, enabled, updated_at, revision from ${t[kind]}
        where workspace = ${keyOf(workspaceId)} and id = ${id}::text`)
      return row === undefined ? null : { row: rowOf(kind, row), revision: number(row['revision']) }
    },

    list: (workspaceId, query) =>
      pageOf(
        db,
        {
          columns: raw('id, document, enabled, updated_at'),
          from: t[kind],
          where: all([
            sql`workspace = ${keyOf(workspaceId)}`,
            ...named(query),
            ...(query.enabled === undefined ? [] : [raw(query.enabled ? 'enabled' : 'not enabled')]),
            ...(kind === 'plugins' ? equals(raw('endpoint_id'), query.endpoint_id) : []),
            ...(kind === 'plugins' ? equals(raw('source_id'), query.source_id) : []),
          ]),
          id: raw('id'),
          size: raw('octet_length(document)'),
        },
        query,
        (row) => rowOf(kind, row),
      ),

    update(workspaceId, row, from, bounds) {
      const plan = planFor(workspaceId, kind, [row], [], bounds)
      const refuse = (seen: PlanContext): 'missing' | 'conflict' | null => {
        const there = seen.rows[kind].get(row.id)
        if (there === undefined || !there.isOwn) return 'missing'
        return there.revision === from ? null : 'conflict'
      }
      return changeRow(plan, refuse, judgedInside(db, plan, { kind, row, from }))
    },

    async delete(workspaceId, id) {
      const answer = await changeRow(planFor(workspaceId, kind, [], [id]), (seen) =>
        seen.rows[kind].get(id)?.isOwn === true ? null : ('missing' as const),
      )
      return answer === 'written'
    },
  }
}
