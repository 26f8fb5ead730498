// The key that seals is changed under traffic, on PostgreSQL and on Redis: two servers are replaced one after the other, a
// server and a `posthorn secrets reseal` are killed in the middle, and the old key is taken away at the end.
import { ownPostgres } from '../support/postgres.ts'
import { startRedis } from '../support/redis.ts'
import { type KeyChange, keyChanged } from './key-change.ts'
import { table } from './report.ts'

const changes: KeyChange[] = []
async function tried(engine: string, env: Readonly<Record<string, string>>): Promise<void> {
  const change = await keyChanged(engine, env)
  console.log(change)
  changes.push(change)
}

const postgres = await ownPostgres({ fsync: 'off', full_page_writes: 'off' })
if (postgres === null) throw new Error('PostgreSQL is not installed here')
await tried('PostgreSQL', { DATABASE_URL: postgres.url })
await postgres.stop()

const redis = await startRedis()
await tried('Redis', { REDIS_URL: redis.url })
await redis.stop()

console.log(table(changes))
const holds = (each: KeyChange): boolean =>
  each.delivered === each.accepted && each.refused === 0 && each.pluginErrors === 0 && each.left === 0 && each.same
if (!changes.every(holds)) process.exitCode = 1
