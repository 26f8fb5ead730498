import { Pool, type PoolClient } from 'pg'
import postgresJs from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest'

import { createPosthorn, isRetryable, PosthornError } from '../../adapters/node/index.ts'
import { postgres } from '../../adapters/postgres/index.ts'
import type { Posthorn } from '../../src/surface/posthorn.ts'
import { schemasOf } from '../support/postgres.ts'

const url = inject('postgresUrl')
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const event = { event_type: 'x', data: {} }
const caught = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error as PosthornError,
  )

describe.skipIf(url === null)('inside the host’s transaction', () => {
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
    await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' }, events: ['*'] })
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

  test('the first error is told with its cause, by all calls that follow until a rollback, and nothing is sent again', async () => {
    const other = await pool.connect()
    await other.query('begin')
    await posthorn.using(other).events.create('default', { ...event, unique_id: 'u' })
    await client.query('savepoint here')
    await client.query("set local statement_timeout = '100ms'")
    const texts: string[] = []
    const spy = { query: (text: string, values: unknown[]) => (texts.push(text), client.query(text, values)) }
    const bound = posthorn.using(spy)
    const first = await caught(bound.events.create('default', { ...event, unique_id: 'u' }))
    expect(first).toMatchObject({ code: 'timeout', cause: { code: '57014' } })
    expect(texts.filter((text) => text.includes('unique_ids'))).toHaveLength(1)
    const second = await caught(bound.events.list('default'))
    expect(second).toMatchObject({ code: 'timeout', cause: { code: '57014' } })
    await client.query('rollback to savepoint here')
    expect((await bound.events.create('default', event)).event_type).toBe('x')
    await other.query('rollback')
    other.release()
  })

  test('a statement of the host that failed is told as what it is', async () => {
    const bound = posthorn.using(client)
    await client.query('select 1 / 0').catch(() => {})
    expect(await caught(bound.events.create('default', event))).toMatchObject({ cause: { code: '25P02' } })
  })

  test('a deadlock and a serialization failure have codes, and may be tried again', async () => {
    const other = await pool.connect()
    await pool.query(`create table if not exists ${schema}_rows (n integer); insert into ${schema}_rows values (1)`)
    await other.query('begin')
    await client.query(`lock table ${schema}_rows in exclusive mode`)
    await posthorn.using(other).endpoints.create('default', { request: { url: 'https://b.test/' } })
    const blocked = other.query(`lock table ${schema}_rows in exclusive mode`).catch((error: unknown) => error)
    const mine = await caught(
      posthorn.using(client).endpoints.create('default', { request: { url: 'https://c.test/' } }),
    )
    if (mine !== null) {
      expect(mine).toMatchObject({ code: 'deadlock', cause: { code: '40P01' } })
      expect(isRetryable(mine)).toBe(true)
    }
    await client.query('rollback')
    const theirs = await blocked
    expect(mine !== null || isRetryable(theirs)).toBe(true)
    await other.query('rollback')

    for (const each of [client, other]) await each.query('begin isolation level serializable')
    for (const each of [client, other]) await each.query(`select sum(n) from ${schema}_rows`)
    for (const each of [client, other]) await each.query(`insert into ${schema}_rows values (2)`)
    await other.query('commit')
    const failed =
      (await caught(posthorn.using(client).events.create('default', event))) ??
      (await client.query('commit').catch((error: unknown) => error))
    expect(isRetryable(failed)).toBe(true)
    await client.query('rollback')
    other.release()
    await pool.query(`drop table ${schema}_rows`)
  })

  test('isRetryable tells apart', () => {
    for (const code of ['unavailable', 'timeout', 'deadlock', 'serialization_failure', 'overloaded'] as const) {
      expect(isRetryable(new PosthornError(code, ''))).toBe(true)
    }
    for (const code of ['validation', 'unique_violation', 'internal', 'transaction_required'] as const) {
      expect(isRetryable(new PosthornError(code, ''))).toBe(false)
    }
    expect(isRetryable(Object.assign(new Error(), { code: '40001' }))).toBe(true)
    for (const none of [null, undefined, 'text', new Error('other')]) expect(isRetryable(none)).toBe(false)
  })

  test('pools are no transaction, and a client outside is refused unless the host says otherwise', async () => {
    const sql = postgresJs(url!, { max: 1, onnotice: () => {} })
    for (const handle of [pool, sql]) {
      expect(() => posthorn.using(handle)).toThrow(expect.objectContaining({ code: 'transaction_required' }))
    }
    await sql.end({ timeout: 1 })
    const outside = await pool.connect()
    const refused = await caught(posthorn.using(outside).events.create('default', event))
    expect(refused).toMatchObject({ code: 'transaction_required' })
    const lenient = createPosthorn({
      storage: postgres(pool, { schema, listen: false }),
      logger: quiet,
      requireTransaction: false,
    })
    expect(await lenient.using(outside).events.create('default', event)).toMatchObject({ event_type: 'x' })
    outside.release()
  })

  test('publishing again after a rollback to a savepoint notifies all the same, and once', async () => {
    const heard: string[] = []
    const listener = await pool.connect()
    onTestFinished(() => listener.release(true))
    // The endpoint of before may be announced late.
    listener.on('notification', ({ payload = '' }) => payload.includes('jobs') && heard.push(payload))
    await listener.query(`listen ${schema}`)
    const bound = posthorn.using(client)
    await client.query('savepoint here')
    await bound.events.create('default', event)
    await client.query('rollback to savepoint here')
    await bound.events.create('default', event)
    await bound.events.create('default', event)
    await client.query('commit')
    await client.query('begin')
    const silent = posthorn.using(client, { wake: false })
    await silent.events.create('default', event)
    await client.query('commit')
    await expect.poll(() => heard).toEqual(['["jobs"]'])
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(heard).toEqual(['["jobs"]'])
    await client.query('begin')
  })
})
