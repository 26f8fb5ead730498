import { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'

import { createPosthorn } from '../../adapters/node/index.ts'
import { redis } from '../../adapters/redis/index.ts'
import { fakeClock, type FakeClock } from '../../src/testing/fake-clock.ts'
import type { Posthorn } from '../../src/surface/posthorn.ts'
import { ok } from '../support/held-http.ts'
import { schemasOf } from '../support/postgres.ts'
import { clients, describeRedis, freshNamespace, sharedRedis, type TestClient } from '../support/redis.ts'

const url = inject('postgresUrl')
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

const suite = url === null ? describe.skip : describeRedis

suite('a transaction on PostgreSQL with the queue on Redis', () => {
  const pool = new Pool({ connectionString: url ?? '', max: 5 })
  const schemas = schemasOf(pool)
  let server: Awaited<ReturnType<typeof sharedRedis>>
  let connected: TestClient
  let posthorn: Posthorn
  let clock: FakeClock
  let sent: string[]
  const waiting = async () => (await posthorn.status()).queue.size
  beforeAll(async () => {
    server = await sharedRedis()
    connected = await clients[0]!.open(server.url)
  })
  afterAll(async () => {
    connected.close()
    await server.stop()
    await schemas.drop()
    await pool.end()
  })
  beforeEach(async () => {
    const { subject, close } = await schemas.open({ listen: false })
    sent = []
    clock = fakeClock()
    posthorn = createPosthorn({
      storage: subject,
      queue: redis(connected.client, { namespace: freshNamespace() }).queue,
      clock,
      logger: quiet,
      http: {
        send: async ({ body }) => {
          sent.push(String(body))
          return ok
        },
      },
    })
    await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' }, events: ['*'] })
    return close
  })

  /** Publishes in a transaction, and answers what it was bound to. */
  async function published(how: 'commit' | 'rollback') {
    const client = await pool.connect()
    await client.query('begin')
    const bound = posthorn.using(client)
    await bound.events.create('default', { event_type: 'order.created', data: { id: 1 } })
    expect(await waiting(), 'before the end of the transaction').toBe(0)
    await client.query(how)
    client.release()
    return bound
  }

  test('hands the job over at once when the host says that it committed', async () => {
    const bound = await published('commit')
    expect(await waiting()).toBe(0)
    await bound.committed()
    await expect.poll(waiting).toBe(1)
    await bound.committed() // twice is fine
    expect(await posthorn.tick()).toMatchObject({ delivered: 1 })
    expect(sent).toEqual(['{"id":1}'])
  })

  test('is delivered within five seconds when it does not', async () => {
    await published('commit')
    expect(await posthorn.tick()).toMatchObject({ delivered: 0 })
    // Lost jobs are looked for once a second.
    for (let seconds = 0; seconds < 5 && sent.length === 0; seconds++) {
      await clock.advance('1s')
      await posthorn.tick()
    }
    expect(sent).toEqual(['{"id":1}'])
  })

  test('leaves nothing when it rolls back, whatever the host says', async () => {
    const bound = await published('rollback')
    await bound.committed()
    await clock.advance('1m')
    expect(await posthorn.tick()).toMatchObject({ delivered: 0, failed: 0, remaining: 0 })
    expect(sent).toEqual([])
  })
})
