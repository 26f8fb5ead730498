import { number } from '../sql/values.ts'
import type { Database } from './database.ts'
import type { Migration } from './migrations/migration.ts'
import { sql } from '../sql/sql.ts'

/** A lock on a table of the schema that somebody else holds. */
export interface Holder {
  readonly pid: number
  /** Names the transaction: a backend never uses it again. */
  readonly transaction: string
  readonly mode: string
  readonly table: string
}

/** Who holds locks on the tables that a step changes. */
export async function inTheWay({ ask, schema }: Database, step: Migration): Promise<readonly Holder[]> {
  const rows = await ask(sql`
    select l.pid, l.virtualtransaction as transaction, l.mode, c.relname as table
    from pg_locks l join pg_class c on c.oid = l.relation join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema}::text and c.relname = any(${changedBy(step)}::text[]) and l.granted and l.pid <> pg_backend_pid()
      and l.database = (select oid from pg_database where datname = current_database())
    order by l.pid, c.relname`)
  return rows.map((row) => ({
    pid: number(row['pid']),
    transaction: row['transaction'] as string,
    mode: row['mode'] as string,
    table: row['table'] as string,
  }))
}

/** The tables that stand first in statements which change something. */
function changedBy({ sql: text }: Migration): string[] {
  const changing = text
    .split(';')
    .filter((statement) => /^\s*(--.*\s*)*(alter|lock|update|delete|drop)\b/i.test(statement))
  return changing.flatMap((statement) => [...statement.matchAll(/\$schema\.(\w+)/g)].map(([, table]) => table!))
}
