import { Pool, type PoolClient } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'

import { createPosthorn } from '../../adapters/node/index.ts'
import type { Posthorn } from '../../src/surface/posthorn.ts'
import { schemasOf } from '../support/postgres.ts'

const url = inject('postgresUrl')
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

describe.skipIf(url === null)('a key that an open transaction of a host holds', () => {
  let pool: Pool
  let schemas: ReturnType<typeof schemasOf>
  let posthorn: Posthorn
  let schema: string
  let client: PoolClient
  beforeAll(() => {
    pool = new Pool({ connectionString: url!, max: 10 }) // skipped where it is null
    schemas = schemasOf(pool)
  })
  beforeEach(async () => {
    const opened = await schemas.open({ listen: false })
    schema = opened.schema
    posthorn = createPosthorn({ storage: opened.subject, logger: quiet })
    for (const id of ['a', 'b']) await posthorn.workspaces.create({ id })
    client = await pool.connect()
    await client.query('begin')
    return async () => {
      await client.query('rollback')
      client.release()
      await opened.close()
    }
  })
  afterAll(async () => {
    await schemas.drop()
    await pool.end()
  })

  const keys = { 'a unique_id': { unique_id: 'same' }, 'an id': { id: 'same' } }
  const event = { event_type: 'x', data: {} }

  test.each(Object.entries(keys))(
    '%s: those who want it wait without a connection, all others go on',
    async (_, key) => {
      await posthorn.using(client).events.create('a', { ...event, ...key })
      const waiting = Array.from({ length: 30 }, () =>
        posthorn.events.create('a', { ...event, ...key }).then(
          ({ id }) => id,
          () => 'refused',
        ),
      )
      const took: number[] = []
      for (let i = 0; i < 60; i++) {
        const began = performance.now()
        await posthorn.events.create('b', { ...event, unique_id: `own-${i}`, id: `own-${i}` })
        took.push(performance.now() - began)
      }
      expect(Math.max(...took)).toBeLessThan(500)
      const { rows } = await pool.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%${schema}%' and pid <> pg_backend_pid()`,
      )
      expect(rows).toHaveLength(0)
      expect(await Promise.race([...waiting, Promise.resolve('they wait')])).toBe('they wait')
      await client.query('commit')
      const answers = new Set(await Promise.all(waiting))
      expect(answers.size).toBe(1)
      await client.query('begin')
    },
  )

  test('keeps nobody waiting who wants another key, and takes few of the locks of the server', async () => {
    const inTransaction = posthorn.using(client).events
    for (let i = 0; i < 40; i++) await inTransaction.create('a', { ...event, unique_id: `key-${i}` })
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::integer from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`,
    )
    expect(rows[0]!.count).toBe(16)
    const began = performance.now()
    const others = Array.from({ length: 2000 }, (_, i) =>
      posthorn.events.create('b', { ...event, unique_id: `key-${i}` }),
    )
    expect(await Promise.all(others)).toHaveLength(2000)
    expect(performance.now() - began).toBeLessThan(5_000) // who waits for the transaction waits for ten seconds
    const waiting = posthorn.events.create('a', { ...event, unique_id: 'key-39' })
    expect(await Promise.race([waiting.then(({ id }) => id), Promise.resolve('it waits')])).toBe('it waits')
    await client.query('commit')
    expect((await waiting).unique_id).toBe('key-39')
    await client.query('begin')
  })

  test('that rolls back is free for one of those who waited', async () => {
    await posthorn.using(client).events.create('a', { ...event, unique_id: 'same' })
    const waiting = Array.from({ length: 10 }, () => posthorn.events.create('a', { ...event, unique_id: 'same' }))
    await new Promise((resolve) => setTimeout(resolve, 100))
    await client.query('rollback')
    const ids = (await Promise.all(waiting)).map(({ id }) => id)
    expect(new Set(ids).size).toBe(1)
    await client.query('begin')
  })

  test('is waited for by the statement too where the other process holds no lock of ours, for a tenth of a second', async () => {
    const workspace = await pool.query<{ key: string }>(`select key from ${schema}.workspaces where id = 'a'`)
    // As a process of the version before does.
    await client.query(`insert into ${schema}.unique_ids values ($1, 'same', 'e')`, [workspace.rows[0]!.key])
    const waiting = posthorn.events.create('a', { ...event, unique_id: 'same' })
    await new Promise((resolve) => setTimeout(resolve, 30))
    const began = performance.now()
    await posthorn.events.create('b', { ...event, unique_id: 'own' })
    expect(performance.now() - began).toBeLessThan(1_000)
    await client.query('rollback')
    expect((await waiting).unique_id).toBe('same')
    await client.query('begin')
  })
})
