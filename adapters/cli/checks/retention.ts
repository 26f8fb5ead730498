import { rowsOf } from '../database-rows.ts'
import { type Check, ok, problem } from './check.ts'

/** From so many attempts on, nobody keeps them all on purpose. */
const manyRows = 1_000_000

/** Tables that grow for ever. PostgreSQL knows their size without counting. */
export const retentionCheck: Check = async ({ engine: { database }, settings }) => {
  if (settings.eventsDays !== undefined || settings.attemptsDays !== undefined) {
    const days = [settings.eventsDays, settings.attemptsDays].filter((each) => each !== undefined)
    return [ok('retention', `What is older than ${Math.min(...days)} days is removed.`)]
  }
  if (database === null) return []
  const [row] = await rowsOf(
    database,
    `select greatest(c.reltuples, 0)::bigint as rows, pg_size_pretty(pg_total_relation_size(c.oid)) as size
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = '${settings.databaseSchema}' and c.relname = 'attempts'`,
  )
  const rows = Number(row?.['rows'] ?? 0)
  if (rows < manyRows) return [ok('retention', `Nothing is ever removed; there are about ${rows} attempts.`)]
  return [
    problem(
      'retention',
      `Nothing is ever removed, and there are about ${rows} attempts (${String(row?.['size'])}).`,
      'Set POSTHORN_EVENTS_DAYS and POSTHORN_ATTEMPTS_DAYS.',
    ),
  ]
}
