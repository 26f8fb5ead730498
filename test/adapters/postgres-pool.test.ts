import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { createPosthorn } from '../../adapters/node/index.ts'
import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { freshSchema } from '../support/postgres.ts'

const url = inject('postgresUrl')
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const order = (id: number) => ({ event_type: 'order.created', data: { id } })

describe.skipIf(url === null)('a host’s pool', () => {
  const schema = freshSchema()
  const admin = new Pool({ connectionString: url ?? '', max: 1 })
  beforeAll(() => migrate(admin, { schema }))
  afterAll(async () => {
    await admin.query(`drop schema ${schema} cascade`)
    await admin.end()
  })

  /** A process whose pool has so many connections. */
  async function over(max: number) {
    const pool = new Pool({ connectionString: url!, max }) // skipped where it is null
    pool.on('error', () => {})
    const sent: string[] = []
    const http = {
      send: async ({ body }: { body: string | null }) => {
        sent.push(body ?? '')
        return { kind: 'response', status: 200, headers: {}, body: '', ended: true } as const
      },
    }
    const posthorn = createPosthorn({ storage: postgres(pool, { schema }), http, logger: quiet })
    await posthorn.config.sync('default', {
      endpoints: [{ id: 'shop', request: { url: 'https://shop.test/' }, events: ['*'] }],
    })
    return {
      pool,
      posthorn,
      sent,
      async end() {
        await posthorn.stop()
        await pool.end()
      },
    }
  }

  test.each([
    { max: 1, listens: 'without listening' },
    { max: 2, listens: 'one of which listens' },
  ])('of $max connections, $listens, is enough to receive, to deliver and to stop', async ({ max }) => {
    const { pool, posthorn, sent, end } = await over(max)
    await posthorn.start()
    await Promise.all(Array.from({ length: 50 }, (_, id) => posthorn.events.create('default', order(id))))
    await expect.poll(() => sent.length, { timeout: 10_000 }).toBe(50)
    expect(pool.totalCount).toBeLessThanOrEqual(max)
    const client = max === 1 ? await admin.connect() : await pool.connect()
    await client.query('begin')
    await posthorn.using(client).events.create('default', order(50))
    await client.query('commit')
    client.release()
    await expect.poll(() => sent.length, { timeout: 10_000 }).toBe(51)
    await end()
  })

  test('that the host exhausts delays what is published and delivered, and loses nothing', async () => {
    const { pool, posthorn, sent, end } = await over(4)
    await posthorn.start()
    // The host takes all that the listener leaves.
    const taken = await Promise.all(Array.from({ length: 3 }, () => pool.connect()))
    const publishing = Promise.all(Array.from({ length: 20 }, (_, id) => posthorn.events.create('default', order(id))))
    const bound = posthorn.using(taken[0])
    await taken[0]!.query('begin')
    await bound.events.create('default', order(20))
    await taken[0]!.query('commit')
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(sent).toEqual([])
    for (const client of taken) client.release()
    expect(await publishing).toHaveLength(20)
    await expect.poll(() => sent.length, { timeout: 10_000 }).toBe(21)
    expect(new Set(sent).size).toBe(21)
    await end()
  })

  test('that has none to spare when the worker starts lets it start late', async () => {
    const { pool, posthorn, sent, end } = await over(2)
    const taken = await Promise.all([pool.connect(), pool.connect()])
    const starting = posthorn.start()
    const publishing = posthorn.events.create('default', order(1))
    await new Promise((resolve) => setTimeout(resolve, 200))
    for (const client of taken) client.release()
    await Promise.all([starting, publishing])
    await expect.poll(() => sent.length, { timeout: 10_000 }).toBe(1)
    await end()
  })
})
