import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { createPosthorn } from '../../adapters/node/index.ts'
import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { freshSchema, type OwnPostgres, ownPostgres } from '../support/postgres.ts'

const server: OwnPostgres | null = await ownPostgres({ fsync: 'off', autovacuum_naptime: '1s' })

const up = { status: 'UP', components: { storage: { status: 'UP' }, queue: { status: 'UP' } } }
const unavailable = { status: 'DOWN', error: 'unavailable' }
const down = { status: 'DOWN', components: { storage: unavailable, queue: unavailable } }
const patience = { timeout: 10_000, interval: 100 }

describe.skipIf(server === null)('the health of a PostgreSQL that answers reads', { timeout: 30_000 }, () => {
  let pool: Pool
  const schema = freshSchema()
  beforeAll(async () => {
    pool = new Pool({ connectionString: server!.url, max: 4 }) // skipped where it is null
    pool.on('error', () => {})
    await migrate(pool, { schema })
  })
  afterAll(async () => {
    await pool.end()
    await server!.stop()
  })
  const bytes = async (): Promise<number> => {
    const { rows } = await pool.query<{ bytes: string }>(`select pg_relation_size('${schema}.probes') as bytes`)
    return Number(rows[0]!.bytes) // it is there
  }

  test('is DOWN while it takes no writes, as after a failover, and UP when it takes them again', async () => {
    const logger = { debug() {}, info() {}, warn() {}, error() {} }
    const posthorn = createPosthorn({ storage: postgres(pool, { schema, listen: false }), logger })
    expect(await posthorn.health()).toEqual(up)
    await readOnly(true)
    await expect.poll(() => posthorn.health(), patience).toEqual(down)
    await readOnly(false)
    await expect.poll(() => posthorn.health(), patience).toEqual(up)

    /** What holds for new sessions, and none but new ones. */
    async function readOnly(on: boolean): Promise<void> {
      const client = await pool.connect()
      await client.query('set default_transaction_read_only = off')
      await client.query(`alter database postgres set default_transaction_read_only = ${on ? 'on' : 'off'}`)
      await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
      )
      client.release(true)
    }
  })

  test('is asked of the server once a second at most, whoever asks', async () => {
    const texts: string[] = []
    const client = {
      query: (text: string, values: unknown[]) => {
        texts.push(text)
        return pool.query(text, values)
      },
    }
    const storage = postgres(client, { schema })
    await Promise.all([storage.ping(), storage.queue.ping!(), storage.ping()])
    await storage.ping()
    expect(texts).toHaveLength(1)
  })

  test('takes a new page of the disk each time, and gives all of them back', async () => {
    const before = await bytes()
    await postgres(pool, { schema }).ping()
    expect(await bytes()).toBe(before + 8192)
    for (let n = 0; n < 20; n++) await postgres(pool, { schema }).ping()
    expect((await pool.query(`select from ${schema}.probes`)).rowCount).toBe(0)
    await expect.poll(bytes, patience).toBe(0)
  })

  test('takes no more pages where nobody gives them back', async () => {
    await pool.query(`alter table ${schema}.probes set (autovacuum_enabled = false)`)
    await pool.query(`insert into ${schema}.probes select repeat('x', 1000) from generate_series(1, 1024)`)
    const before = await bytes()
    await postgres(pool, { schema }).ping()
    expect(await bytes()).toBe(before)

    const standby = new Pool({ connectionString: server!.url, options: '-c default_transaction_read_only=on' })
    await expect(postgres(standby, { schema }).ping()).rejects.toMatchObject({ code: 'unavailable' })
    await standby.end()
    await pool.query(`truncate ${schema}.probes`)
    await pool.query(`alter table ${schema}.probes reset (autovacuum_enabled)`)
  })
})
