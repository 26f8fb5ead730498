import { Pool } from 'pg'
import postgresJs from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { createPosthorn } from '../../adapters/node/index.ts'
import { openPostgres, postgres } from '../../adapters/postgres/index.ts'
import { freshSchema } from '../support/postgres.ts'

const url = inject('postgresUrl')

function told() {
  const lines: string[] = []
  const log = (message: string) => void lines.push(message)
  return { lines, logger: { debug() {}, info() {}, warn: log, error: log } }
}

describe.skipIf(url === null)('a pool', () => {
  const schema = freshSchema()
  const name = `open_${schema}`
  let admin: Pool
  beforeAll(async () => {
    admin = new Pool({ connectionString: url!, max: 1 }) // skipped where it is null
    await openPostgres(url!, { schema }).migrate()
  })
  afterAll(async () => {
    await admin.query(`drop schema ${schema} cascade`)
    await admin.end()
  })
  const connections = async () =>
    (await admin.query('select from pg_stat_activity where application_name = $1', [name])).rowCount

  test('of openPostgres publishes, delivers, joins transactions, says nothing at the start, and is closed by stop', async () => {
    const storage = openPostgres(url!, { schema, max: 4, applicationName: name })
    expect(await connections()).toBe(0)
    const { lines, logger } = told()
    const sent: string[] = []
    const http = {
      send: async ({ body }: { body: string | null }) => {
        sent.push(body ?? '')
        return { kind: 'response', status: 200, headers: {}, body: '', ended: true } as const
      },
    }
    const posthorn = createPosthorn({ storage, logger, http })
    await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' }, events: ['*'] })
    await posthorn.start()
    await posthorn.events.create('default', { event_type: 'x', data: { n: 1 } })
    const client = await storage.connect()
    await client.query('begin')
    await posthorn.using(client).events.create('default', { event_type: 'x', data: { n: 2 } })
    await client.query('commit')
    client.release()
    await expect.poll(() => sent.length, { timeout: 10_000 }).toBe(2)
    expect((await posthorn.status()).database.total_connections).toBeGreaterThan(0)
    expect(lines).toEqual([])
    await posthorn.stop()
    await expect.poll(connections).toBe(0)
    // What is asked afterwards opens another one.
    expect((await posthorn.events.list('default')).data).toHaveLength(2)
    await storage.close()
    await expect.poll(connections).toBe(0)
  })

  test('of openPostgres tells a transaction of the host that its connection is lost, and lives on', async () => {
    const storage = openPostgres(url!, { schema, applicationName: name })
    const client = await storage.connect()
    await client.query('begin')
    const closed = new Promise((resolve) => client.on('end', () => resolve(undefined)))
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [name])
    await closed
    await expect(client.query('commit')).rejects.toThrow('not queryable')
    client.release(true)
    expect((await createPosthorn({ storage }).events.list('default')).data).toEqual(expect.any(Array))
    await storage.close()
  })

  test('of openPostgres has limits on the server too, and none behind a pooler', async () => {
    for (const [prepare, timeout] of [
      [true, '30s'],
      [false, '0'],
    ] as const) {
      const storage = openPostgres(url!, { schema, prepare })
      const client = (await storage.connect()) as unknown as Pool
      expect((await client.query('show statement_timeout')).rows).toEqual([{ statement_timeout: timeout }])
      ;(client as unknown as { release(): void }).release()
      await storage.close()
    }
  })

  test('that lacks what notices a silent line is told once at the start, with what to set', async () => {
    const bare = new Pool({ connectionString: url!, max: 3 })
    const good = new Pool({ connectionString: url!, max: 3, connectionTimeoutMillis: 5_000, keepAlive: true })
    const sql = postgresJs(url!, { max: 3, onnotice: () => {} })
    const goodSql = postgresJs(url!, {
      max: 3,
      connect_timeout: 5,
      backoff: () => 1,
      fetch_types: false,
      onnotice: () => {},
    })
    const expected = new Map<unknown, string | null>([
      [bare, 'connectionTimeoutMillis: 5000 and keepAlive: true'],
      [good, null],
      [sql, 'connect_timeout: 5'],
      [goodSql, null],
    ])
    for (const handle of [bare, good, sql, goodSql]) {
      const { lines, logger } = told()
      const posthorn = createPosthorn({ storage: postgres(handle, { schema, listen: false }), logger })
      await posthorn.start()
      await posthorn.stop()
      const words = expected.get(handle)!
      expect(lines).toEqual([
        ...(words === null ? [] : [expect.stringContaining(`set ${words}, or use openPostgres()`)]),
        ...(handle === sql
          ? [expect.stringContaining('set fetch_types: false'), expect.stringContaining('set backoff: () => 1')]
          : []),
      ])
    }
    for (const pool of [bare, good]) await pool.end()
    for (const each of [sql, goodSql]) await each.end({ timeout: 1 })
  })
})
