// All that may go wrong with a Redis, and processes killed, at 10,000 events each: beside PostgreSQL, which holds the
// truth, and alone.
import { ownPostgres } from '../support/postgres.ts'
import * as faults from './redis-faults.ts'
import { type RedisFault, redisTried } from './redis-trial.ts'
import { holds, type Report, table } from './report.ts'

const size = { events: 10_000, strikes: 5, everyMs: 2000, answerMs: 20 }

const reports: Report[] = []
async function tried(fault: RedisFault, databaseUrl: string | null): Promise<void> {
  const report = await redisTried(fault, databaseUrl, size)
  console.log(report)
  reports.push(report)
}

for (const fault of [faults.processesKilled, faults.flushed, faults.emptied]) {
  const server = await ownPostgres({ fsync: 'off', full_page_writes: 'off' })
  if (server === null) throw new Error('PostgreSQL is not installed here')
  await tried(fault, server.url)
  await server.stop()
}
for (const fault of [faults.processesKilled, faults.crashed]) await tried(fault, null)
console.log(table(reports))
if (!reports.every((report) => holds(report) && report.accepted === size.events)) process.exitCode = 1
