import type { Claim } from '../../src/contracts/queue.ts'
import type { LostLease } from '../../src/core/lost-leases.ts'
import { json } from '../sql/values.ts'
import type { Database } from './database.ts'
import { raw, type Sql, sql } from '../sql/sql.ts'
import { dueAt } from './waiting.ts'

/** The workspace that a token names, where the job was held from the start: its group may be unknown. Else null. */
export function namedBy(token: Sql): Sql {
  return sql`substring(${token} from '/(.+)$')`
}

/** The jobs that are held with these tokens, locked in the order of ids, so that no two batches lock each other out. */
export function lockedHolds({ t }: Database, claims: readonly Claim[]): Sql {
  return sql`
    select j.id, ${namedBy(raw('j.token'))} as named from ${t.jobs} j
    join jsonb_to_recordset(${json(claims.map(({ id, token }) => ({ id, token })))}::text::jsonb)
      as c (id text collate "C", token text) on c.id = j.id and c.token = j.token
    where j.id = any(array(select unnest(${claims.map(({ id }) => id)}::text[])))
    order by j.id for update of j`
}

/** Lets the jobs of a query (id, `named`: see `namedBy`), which locks them, wait again at their places. */
export async function release({ run, t }: Database, jobs: Sql): Promise<void> {
  await run(sql`
    with locked as (${jobs}),
    released as (
      update ${t.jobs} j set held_until = 0, token = null from locked where j.id = locked.id
      returning j.group_id, j.due_at, locked.named
    )
    insert into ${t.hints} (group_id, workspace, due_at)
    select group_id, coalesce((select workspace from ${t.groups} g where g.id = r.group_id), max(named)),
      min(${dueAt(raw('due_at'))})
    from released r group by group_id`)
}

/** Lets jobs wait again that were claimed under this token. Their claimer never got the answer. */
export async function giveBackLost(db: Database, { token, until }: LostLease): Promise<void> {
  await release(
    db,
    sql`
    select id, ${namedBy(raw('token'))} as named from ${db.t.jobs} where held_until > 0 and held_until = ${until}::bigint and token = ${token}::text
    order by id for update`,
  )
}
