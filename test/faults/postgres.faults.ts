// All that may go wrong with a PostgreSQL, at 10,000 events each, and 20 processes killed on the way.
import { ownPostgres } from '../support/postgres.ts'
import { killed } from './killing.ts'
import * as faults from './postgres-faults.ts'
import { holds, type Report, table } from './report.ts'
import { tried } from './trial.ts'

const events = 10_000
const server = await ownPostgres({ fsync: 'off', full_page_writes: 'off' })
if (server === null) throw new Error('PostgreSQL is not installed here')
const disk = faults.fullDisk()
if (disk === null) console.log('No file system may be mounted here, so none runs full.')

const all = [
  faults.restart,
  faults.terminated,
  faults.exhausted,
  faults.timeouts,
  faults.serializable,
  faults.clocks,
  faults.migrated,
  ...(disk === null ? [] : [disk]),
]
const reports: Report[] = []
for (const fault of all) {
  console.log(`${fault.name} ...`)
  reports.push(await tried(fault, server, { events, lastsMs: 6000, answerMs: 20 }))
}
console.log('20 kills ...')
const { shares: _shares, ...killing } = await killed({
  databaseUrl: server.url,
  events,
  kills: 20,
  everyMs: 1000,
  answerMs: 100,
})
reports.push(killing)
await server.stop()
console.log(table(reports))
if (!reports.every(holds)) process.exitCode = 1
