import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { redis } from '../../adapters/redis/index.ts'
import { lowRank } from '../../src/core/job-rank.ts'
import { claimOptions } from '../support/claim-options.ts'
import { freshSchema } from '../support/postgres.ts'
import { clients, describeRedis, freshNamespace, sharedRedis, type TestClient } from '../support/redis.ts'

// A process of a version that knows no priorities files a group whose jobs are all of low priority under their rank, as if
// they fell due in some ten thousand years.
const now = 1_763_000_000_000
const low = (n: number) => ({
  id: `l${n}`,
  workspace: 'w',
  group: 'g',
  due_at: now - 100 + n,
  priority: 'low' as const,
})

const url = inject('postgresUrl')
describe.skipIf(url === null)('on PostgreSQL', () => {
  test('jobs that such a process filed are found within a minute', async () => {
    const pool = new Pool({ connectionString: url! }) // skipped where it is null
    const schema = freshSchema()
    await migrate(pool, { schema })
    const { queue } = postgres(pool, { schema, listen: false })
    await queue.add([low(1), low(2)])
    const first = await queue.claim(claimOptions({ now, limit: 1 }))
    expect(first.map(({ id }) => id)).toEqual(['l1'])
    await pool.query(`update ${schema}.groups set next_at = next_at + ${lowRank}, version = version + 1`)
    await pool.query(`update ${schema}.lines set ready_at = ready_at + ${lowRank}, version = version + 1`)
    expect(await queue.claim(claimOptions({ now: now + 10 }))).toEqual([])
    const later = await queue.claim(claimOptions({ now: now + 60_000 }))
    expect(later.map(({ id }) => id).toSorted()).toEqual(['l1', 'l2'])
    await queue.add([low(3)])
    await queue.complete(later)
    const last = await queue.claim(claimOptions({ now: now + 60_001 }))
    expect(last.map(({ id }) => id)).toEqual(['l3'])
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
})

describeRedis('on Redis', { timeout: 60_000 }, () => {
  let server: Awaited<ReturnType<typeof sharedRedis>>
  let connected: TestClient
  beforeAll(async () => {
    server = await sharedRedis()
    connected = await clients[0]!.open(server.url)
  })
  afterAll(async () => {
    connected.close()
    await server.stop()
  })

  test('jobs that such a process filed are found after a few claims', async () => {
    const namespace = freshNamespace()
    const { queue } = redis(connected.client, { namespace })
    const key = (name: string) => `{${namespace}}:queue:${name}`
    await queue.add([low(1), low(2)])
    const rank = String(now - 99 + lowRank)
    await connected.command('ZADD', key('line:w'), rank, 'l1 g')
    await connected.command('ZADD', key('lines'), rank, 'w')
    await connected.command('ZADD', key('oldest'), rank, 'w')
    const found: string[] = []
    // One claim of sixteen looks for them, whichever.
    for (let i = 0; i < 500 && found.length < 2; i++) {
      found.push(...(await queue.claim(claimOptions({ now, leaseMs: 60_000 }))).map(({ id }) => id))
    }
    expect(found).toEqual(['l1', 'l2'])
  })
})
