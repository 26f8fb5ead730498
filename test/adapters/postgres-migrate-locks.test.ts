import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { createPosthorn } from '../../adapters/node/index.ts'
import { clientOf } from '../../adapters/postgres/client-of.ts'
import type { PostgresClient } from '../../adapters/postgres/clients.ts'
import { migrate, postgres } from '../../adapters/postgres/index.ts'
import type { Row } from '../../adapters/sql/values.ts'
import { eventsTypeIndexes, leaveBroken, oldSchema } from '../support/broken-index.ts'
import { freshSchema } from '../support/postgres.ts'

const url = inject('postgresUrl')
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

describe.skipIf(url === null)('a migration beside others', () => {
  let pool: Pool
  beforeAll(() => {
    pool = new Pool({ connectionString: url!, max: 20 }) // skipped where it is null
  })
  afterAll(() => pool.end())

  async function reader(schema: string) {
    const client = await pool.connect()
    await client.query('begin')
    await client.query(`select count(*) from ${schema}.events`)
    return async () => {
      await client.query('commit')
      client.release()
    }
  }
  const waiting = async (schema: string) =>
    (await pool.query("select from pg_stat_activity where wait_event_type = 'Lock' and query like $1", [`%${schema}%`]))
      .rowCount

  test('waits for a transaction that uses a table, and lets all others go on meanwhile', async () => {
    const schema = await oldSchema(pool)
    const end = await reader(schema)
    const migrating = migrate(pool, { schema })
    let worst = 0
    for (const until = Date.now() + 2_000; Date.now() < until;) {
      const began = Date.now()
      await pool.query(`select count(*) from ${schema}.events`)
      worst = Math.max(worst, Date.now() - began)
    }
    expect(worst).toBeLessThan(1_500)
    await end()
    await migrating
    await postgres(pool, { schema }).verify()
    await pool.query(`drop schema ${schema} cascade`)
  })

  test('gives up in its time, says whose lock is in the way, and leaves nothing that waits', async () => {
    const schema = await oldSchema(pool)
    const end = await reader(schema)
    const began = Date.now()
    await expect(migrate(pool, { schema, lockTimeoutMs: 200, timeoutMs: 2_000 })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /"\.events could not be changed: the open transaction of backend \d+ holds AccessShareLock/,
      ),
    })
    expect(Date.now() - began).toBeLessThan(6_000)
    expect(await waiting(schema)).toBe(0)
    await end()
    await migrate(pool, { schema })
    await pool.query(`drop schema ${schema} cascade`)
  })

  test('builds indexes while others write, once for all that migrate, and anew what a dead process left', async () => {
    const schema = await oldSchema(pool)
    await leaveBroken(pool, schema)
    let isOver = false
    let worst = 0
    const writing = (async () => {
      while (!isOver) {
        const began = Date.now()
        await pool.query(`update ${schema}.events set event_type = event_type where false`)
        worst = Math.max(worst, Date.now() - began)
      }
    })()
    await Promise.all(Array.from({ length: 4 }, () => migrate(pool, { schema })))
    isOver = true
    await writing
    expect(worst).toBeLessThan(1_500)
    const { rows } = await pool.query(
      `select c.relname as name, pg_get_indexdef(c.oid) as text from pg_index i join pg_class c on c.oid = i.indexrelid
       where c.relnamespace = $1::regnamespace and i.indisvalid and c.relname = any($2) order by 1`,
      [schema, ['attempts_astray', 'attempts_first', 'events_type']],
    )
    expect(rows.map(({ name }) => name)).toEqual(['attempts_astray', 'attempts_first', 'events_type'])
    expect(rows[2].text).toContain('(workspace, event_type, created_at)')
    await pool.query(`drop schema ${schema} cascade`)
  })

  test('looks again at an index that PostgreSQL refuses to drop because others change it at the same moment', async () => {
    const schema = await oldSchema(pool)
    await leaveBroken(pool, schema)
    let drops = 0
    const refusing: PostgresClient = {
      async query(text, values) {
        if (!text.startsWith('drop index concurrently') || drops++ > 0) return await pool.query<Row>(text, values)
        throw Object.assign(new Error('tuple concurrently updated'), { code: 'XX000' })
      },
    }
    await migrate(refusing, { schema })
    expect(drops).toBe(2)
    const { rows } = await pool.query(
      `select indisvalid as valid, pg_get_indexdef(indexrelid) as text from pg_index where indexrelid = $1::regclass`,
      [`${schema}.events_type`],
    )
    expect(rows).toEqual([{ valid: true, text: expect.stringContaining('(workspace, event_type, created_at)') }])
    await pool.query(`drop schema ${schema} cascade`)
  })

  test('leaves an index that another process has built since it was seen broken, and dies without harm', async () => {
    const schema = await oldSchema(pool)
    await leaveBroken(pool, schema)
    let isDead = false
    /** Asleep from its first statement that is to change the index until another has migrated; it dies by the next. */
    const sleeper: PostgresClient = {
      async query(text, values, options) {
        if (isDead) throw new Error('this process is dead')
        if (text.startsWith('select') || !text.includes('events_type')) {
          return await pool.query<Row>(text, values)
        }
        await migrate(pool, { schema })
        isDead = true
        return await clientOf(pool).query(text, values, options)
      },
    }
    await expect(migrate(sleeper, { schema })).rejects.toThrow('PostgreSQL refused a statement')
    expect(isDead).toBe(true)
    await postgres(pool, { schema }).verify()
    expect(await eventsTypeIndexes(pool, schema)).toEqual([{ name: 'events_type', valid: true }])
    await pool.query(`drop schema ${schema} cascade`)
  })

  test('drops what another process set aside before it died, and waits for whoever builds', async () => {
    const schema = await oldSchema(pool)
    await leaveBroken(pool, schema, 'events_type_broken')
    const builder = await pool.connect()
    await builder.query('begin')
    await builder.query(`lock table ${schema}.events in share update exclusive mode`)
    let isOver = false
    const migrating = migrate(pool, { schema }).then(() => (isOver = true))
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    expect(isOver).toBe(false)
    await builder.query('commit')
    builder.release()
    await migrating
    expect(await eventsTypeIndexes(pool, schema)).toEqual([{ name: 'events_type', valid: true }])
    await pool.query(`drop schema ${schema} cascade`)
  })

  test('makes the default workspace, and no read makes it', async () => {
    const schema = freshSchema()
    await migrate(pool, { schema })
    const storage = postgres(pool, { schema, listen: false })
    const posthorn = createPosthorn({ storage, logger: quiet })
    const { created_at, ...row } = await posthorn.workspaces.get('default')
    expect(row).toMatchObject({
      id: 'default',
      name: 'default',
      description: null,
      metadata: {},
      updated_at: created_at,
    })
    expect(Math.abs(created_at - Date.now())).toBeLessThan(60_000)

    await storage.workspaces.delete('default')
    expect(await posthorn.workspaces.get('default')).toMatchObject({ id: 'default' })
    expect((await posthorn.workspaces.list()).data).toMatchObject([{ id: 'default' }])
    expect((await posthorn.events.list('default')).data).toEqual([])
    expect((await posthorn.endpoints.list('default', { limit: 1 })).data).toEqual([])
    expect(await posthorn.config.dump('default')).toMatchObject({ endpoints: [] })
    expect(await storage.workspaces.get('default')).toBeNull()
    await posthorn.events.create('default', { event_type: 'x', data: {} })
    expect(await storage.workspaces.get('default')).not.toBeNull()
    await pool.query(`drop schema ${schema} cascade`)
  })

  test('a database of another encoding is refused, by the start too', async () => {
    const name = freshSchema()
    await pool.query(`create database ${name} encoding 'LATIN1' locale 'C' template template0`)
    const address = new URL(url!)
    address.pathname = name
    const latin = new Pool({ connectionString: address.href, max: 2 })
    latin.on('error', () => {}) // the database goes before the pool has said goodbye
    const refusal = { code: 'unavailable', message: expect.stringContaining('encoding LATIN1') }
    await expect(migrate(latin)).rejects.toMatchObject(refusal)
    await expect(createPosthorn({ storage: postgres(latin), logger: quiet }).start()).rejects.toMatchObject(refusal)
    await latin.end()
    await pool.query(`drop database ${name} with (force)`)
  })
})
