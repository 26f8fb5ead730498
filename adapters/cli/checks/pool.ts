import { rowsOf } from '../database-rows.ts'
import { type Check, ok, problem } from './check.ts'

/** Whether the pool notices a silent line, and whether the server has as many connections as the pool may take. */
export const poolCheck: Check = async ({ engine: { database }, storage, settings: { databasePool } }) => {
  const advice = (storage.advice?.() ?? []).map((each) =>
    problem('pool', `${each.charAt(0).toUpperCase()}${each.slice(1)}.`, 'Set these options where the client is made.'),
  )
  if (database === null) return advice
  const [row] = await rowsOf(
    database,
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
       (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used`,
  )
  const [most, used] = [Number(row!['most']), Number(row!['used'])]
  if (databasePool < most) {
    return [...advice, ok('pool', `The pool takes up to ${databasePool} of ${most} connections; ${used} in use.`)]
  }
  return [
    ...advice,
    problem(
      'pool',
      `The pool of one process takes up to ${databasePool} connections, and the server has ${most}.`,
      'Lower POSTHORN_DATABASE_POOL, or raise max_connections; count all processes.',
    ),
  ]
}
