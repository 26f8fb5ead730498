// Engines that go away under 300 events a second and come back: what waited goes on within five seconds. And processes that
// are killed: their successor answers within a second. ONLY=successor or ONLY=postgres runs those whose name matches.
import { setTimeout as sleep } from 'node:timers/promises'

import { Pool } from 'pg'

import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { redis } from '../../adapters/redis/index.ts'
import { freshSchema, ownPostgres } from '../support/postgres.ts'
import { clients, startRedis } from '../support/redis.ts'
import { type Absence, type AwayReport, awayTried } from './away-trial.ts'
import { table } from './report.ts'
import { type SuccessorReport, succeeded } from './successor-trial.ts'

const wanted = new RegExp(process.env['ONLY'] ?? '')
const awayMs = 4000
// A crash loses what was committed with `synchronous_commit = off`.
const database = await ownPostgres({ fsync: 'off', full_page_writes: 'off' })
if (database === null) throw new Error('PostgreSQL is not installed here')
const server = await startRedis({ appendonly: 'yes', appendfsync: 'always' })
const pool = new Pool({ connectionString: database.url, max: 20, connectionTimeoutMillis: 5000 })
pool.on('error', () => {})
const through = await clients[0]!.open(server.url)

async function beside(): Promise<Absence['options']> {
  const schema = freshSchema()
  await migrate(pool, { schema })
  const { queue, inbox, limiter } = redis(through.client, { namespace: schema })
  return { storage: postgres(pool, { schema }), queue, inbox, limiter }
}
const postgresAway = async (): Promise<void> => {
  await database.crash()
  await sleep(awayMs)
  await database.start()
}
const redisAway = async (): Promise<void> => {
  await server.kill()
  await sleep(awayMs)
  await server.start()
}
const absences: readonly { name: string; options(): Promise<Absence['options']>; strike(): Promise<void> }[] = [
  { name: 'postgres away, queue on redis', options: beside, strike: postgresAway },
  { name: 'redis with the queue away, storage on postgres', options: beside, strike: redisAway },
  { name: 'redis away', options: async () => ({ storage: redis(through.client) }), strike: redisAway },
]

const away: AwayReport[] = []
for (const { name, options, strike } of absences) {
  if (wanted.test(name)) away.push(await awayTried({ name, options: await options(), strike }))
}
if (away.length > 0) console.log(table(away))

const successors: SuccessorReport[] = []
const settings = {
  postgres: { DATABASE_URL: database.url },
  redis: { REDIS_URL: server.url },
  'postgres + redis': { DATABASE_URL: database.url, REDIS_URL: server.url },
}
for (const [engines, env] of Object.entries(settings)) {
  if (!wanted.test(`successor on ${engines}`)) continue
  await through.command('FLUSHALL')
  await pool.query('drop schema if exists posthorn cascade')
  successors.push(await succeeded(engines, env))
}
if (successors.length > 0) console.log(table(successors))

through.close()
await pool.end()
await server.stop()
await database.stop()
process.exit([...away, ...successors].every(({ broken }) => broken === '') ? 0 : 1)
