// All that may go wrong with a PostgreSQL, at 10,000 events each, and 20 processes killed on the way.
import { ownPostgres } from '../support/postgres.ts'
import { killed } from './killing.ts'
import * as faults from './postgres-faults.ts'
import { holds, type Report, seconds, table } from './report.ts'
import { tried } from './trial.ts'

const size = { events: 10_000, lastsMs: 4000, answerMs: 20 }
const server = await ownPostgres({ fsync: 'off', full_page_writes: 'off' })
if (server === null) throw new Error('PostgreSQL is not installed here')
const disk = faults.fullDisk(150)
if (disk === null) console.log('No file system may be mounted here, so none runs full.')

const all = [
  faults.restart,
  faults.terminated,
  faults.readOnly,
  faults.exhausted,
  faults.timeouts,
  faults.serializable,
  faults.clocks,
  faults.migrated,
  ...(disk === null ? [] : [disk]),
]
const reports: Report[] = []
let failed = false
const run = async (name: string, act: () => Promise<Report>): Promise<void> => {
  const begun = Date.now()
  try {
    const report = await act()
    reports.push(report)
    failed ||= !holds(report)
    console.log(`${name}: ${seconds(Date.now() - begun)} s`)
  } catch (error) {
    failed = true
    console.error(`${name}:`, error)
  }
}
for (const fault of all) {
  // Longer than `health` waits for an answer.
  const lastsMs = fault === faults.exhausted ? 8000 : size.lastsMs
  await run(fault.name, () => tried(fault, server, { ...size, lastsMs }))
}
await run('20 kills', async () => {
  const killing = { databaseUrl: server.url, events: size.events, kills: 20, everyMs: 1000, answerMs: 100 }
  const { shares: _shares, ...report } = await killed(killing)
  return report
})
await server.stop()
console.log(table(reports))
process.exit(failed ? 1 : 0)
