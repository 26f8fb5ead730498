// Two servers on one database, one of which is killed in the middle of 10,000 events.
import { ownPostgres } from '../support/postgres.ts'
import { killed } from './killing.ts'
import { holds, table } from './report.ts'

const server = await ownPostgres({ fsync: 'off', full_page_writes: 'off' })
if (server === null) throw new Error('PostgreSQL is not installed here')
const report = await killed({ databaseUrl: server.url, events: 10_000, kills: 1, everyMs: 0, answerMs: 50 })
await server.stop()
console.log(table([report]))
if (!holds(report) || report.recoverySeconds > 60) process.exitCode = 1
