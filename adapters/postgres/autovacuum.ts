import type { Row } from '../sql/values.ts'
import { raw, type Sql, sql } from '../sql/sql.ts'
import type { Tables } from './tables.ts'

/**
 * The tables that grow with events, each with the columns that indexes begin with or are partial by. Where PostgreSQL knows nothing
 * of a column, it expects few rows of each value, and reads all rows of an endpoint to find those of an event.
 */
const growing = {
  events: 'id, workspace, event_type, created_at',
  unique_ids: 'workspace, event_id',
  attempts: 'id, workspace, event_id, endpoint_id, created_at, first, astray',
  open_attempts: 'id, workspace, endpoint_id, scheduled_at, apart',
  outcomes: 'attempt_id, workspace, endpoint_id, status, stands',
  jobs: 'id, workspace, apart',
  groups: 'id',
  lines: 'workspace',
} as const

/** The part of a database that is asked. `outside`: not inside a transaction. */
interface Asked {
  readonly schema: string
  readonly t: Tables
  ask(statement: Sql, how?: { readonly outside?: boolean }): Promise<readonly Row[]>
}

/** Rows that go through this process between two looks. */
const everyRows = 1000
/** A table of fewer pages is as well read whole. */
const minPages = 24
/** A table of more pages is analyzed when it has become four times as large, else twice: a sample takes tens of milliseconds. */
const fewPages = 128
/** Of fewer rows any plan is quick. */
const minRows = 200

/**
 * Does at once, in milliseconds, what autovacuum would do at its next run, which comes once a minute:
 *
 * - It tells PostgreSQL the sizes of tables that have grown. PostgreSQL uses the plan of a prepared statement until
 *   then: a plan made while a table was small reads the whole table, however large it has become.
 * - It does the same where PostgreSQL believes that a table has few rows, because the table was analyzed while few rows
 *   were left: then any index seems as good as another. An empty table is not analyzed here.
 * - It frees the room of hints that were worked in, since each claim reads the whole table of hints.
 *
 * Call the function that it answers with the number of rows that passed through the queue, and with Infinity for it to look at once. It
 * fails silently: without it everything is correct, but slower.
 */
export function autovacuum({ ask, schema, t }: Asked): (rows: number) => void {
  let unseen = 0
  let looking = false
  let vacuuming = false

  async function readOutgrown(): Promise<void> {
    const outgrown = await ask(sql`
      select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${schema}::text and c.relname = any(${['hints', ...Object.keys(growing)]}::text[])
        and pg_has_role(c.relowner, 'usage')
        and (
          pg_relation_size(c.oid) / current_setting('block_size')::int
            > greatest(case when c.relname <> 'hints' then c.relpages * case when c.relpages < ${fewPages}::int then 2 else 4 end end,
              ${minPages}::int)
          or c.relname <> 'hints' and c.relpages > 0
            and pg_stat_get_live_tuples(c.oid) > greatest(10 * c.reltuples, ${minRows}::int)
        )`)
    const names = outgrown.map(({ name }) => name as keyof typeof growing | 'hints') // it was asked for by these
    const tables = names.filter((name) => name !== 'hints')
    const filled = await Promise.all(tables.map((name) => ask(sql`select 1 from ${t[name]} limit 1`)))
    const grown = tables.flatMap((name, i) => (filled[i]!.length > 0 ? [sql`${t[name]} (${raw(growing[name])})`] : []))
    if (grown.length > 0) {
      await ask(sql`analyze (skip_locked) ${grown.reduce((before, each) => sql`${before}, ${each}`)}`)
    }
    if (names.includes('hints')) void vacuum()
  }

  /** Nothing waits for it: to give back pages it waits up to five seconds for a moment in which nobody has the table. */
  async function vacuum(): Promise<void> {
    if (vacuuming) return
    vacuuming = true
    await ask(sql`vacuum (skip_locked) ${t.hints}`, { outside: true }).catch(() => {})
    vacuuming = false
  }

  return (rows) => {
    unseen += rows
    if (unseen < everyRows || looking) return
    unseen = 0
    looking = true
    readOutgrown()
      .catch(() => {})
      .finally(() => (looking = false))
  }
}
