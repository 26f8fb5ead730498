import type { Cause, Causes } from '../../src/contracts/storage/causes.ts'
import type { Row } from '../sql/values.ts'
import { json, number } from '../sql/values.ts'
import { type Database } from './database.ts'
import { raw, type Sql, sql } from '../sql/sql.ts'

/** The columns of a cause as a JSON record gives them. */
export const causeColumns = raw(`kind text, id text collate "C", workspace_id text collate "C",
  endpoint_id text collate "C", attempt_id text collate "C", at bigint, reason text`)

export function postgresCauses({ run, t }: Database): Causes {
  return {
    async add(causes) {
      if (causes.length === 0) return
      await run(sql`
        insert into ${t.causes} (kind, id, workspace_id, endpoint_id, attempt_id, at, reason)
        select kind, id, workspace_id, endpoint_id, attempt_id, at, reason
        from jsonb_to_recordset(${json(causes)}::text::jsonb) as g (${causeColumns})
        order by kind, id on conflict do nothing`)
    },

    async list({ kind, after, limit }) {
      const rows = await run(sql`
        select kind, id, workspace_id, endpoint_id, attempt_id, at, reason from ${t.causes}
        where kind = ${kind}::text and id > ${after ?? ''}::text order by id limit ${limit}::int`)
      return rows.map(causeOf)
    },

    async remove(causes) {
      if (causes.length > 0) await run(removal(t.causes, causes))
    },
  }
}

function removal(table: Sql, causes: readonly Pick<Cause, 'kind' | 'id'>[]): Sql {
  const given = json(causes.map(({ kind, id }) => ({ kind, id })))
  return sql`
    delete from ${table} c
    using jsonb_to_recordset(${given}::text::jsonb) as g (kind text collate "C", id text collate "C")
    where c.kind = g.kind and c.id = g.id`
}

function causeOf(row: Row): Cause {
  return {
    kind: row['kind'] as Cause['kind'],
    id: row['id'] as string,
    workspace_id: row['workspace_id'] as string,
    endpoint_id: row['endpoint_id'] as string,
    attempt_id: row['attempt_id'] as string | null,
    at: number(row['at']),
    reason: row['reason'] as Cause['reason'],
  }
}
