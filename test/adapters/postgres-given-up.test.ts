import { Pool } from 'pg'
import postgresJs from 'postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'

import { clientOf } from '../../adapters/postgres/client-of.ts'
import type { PostgresHandle } from '../../adapters/postgres/clients.ts'
import { describePgbouncer, startPgbouncer } from '../support/pgbouncer.ts'
import { type SilentLine, silentLine } from '../support/silent-line.ts'

const url = inject('postgresUrl')
const patience = { timeout: 10_000, interval: 50 }

/** Drivers with three connections. Of pg none of the options is set that would notice a silent line. */
const drivers = [
  {
    name: 'pg',
    open(to: string) {
      const pool = new Pool({ connectionString: to, max: 3 })
      pool.on('error', () => {})
      return { handle: pool as PostgresHandle, close: () => pool.end() }
    },
  },
  {
    name: 'postgres.js',
    open(to: string) {
      const sql = postgresJs(to, { max: 3, connect_timeout: 4, fetch_types: false, onnotice: () => {}, prepare: false })
      return { handle: sql as PostgresHandle, close: () => sql.end({ timeout: 1 }) }
    },
  },
]

describe.skipIf(url === null)('a statement that is given up', () => {
  let admin: Pool
  let opened: ReturnType<(typeof drivers)[number]['open']>
  beforeAll(async () => {
    admin = new Pool({ connectionString: url!, max: 2 }) // skipped where it is null
    await admin.query('create table if not exists given_up (n integer)')
  })
  afterEach(() => opened.close())
  afterAll(async () => {
    await admin.query('drop table given_up')
    await admin.end()
  })

  /** Backends that run or wait for a statement on the table, and all that are there for it. */
  async function backends(): Promise<{ busy: number; all: number }> {
    const { rows } = await admin.query<{ busy: number; all: number }>(`
      select count(*) filter (where state = 'active')::int as busy, count(*)::int as all from pg_stat_activity
      where query like '%given_up%' and pid <> pg_backend_pid()`)
    return rows[0]! // an aggregate is one row
  }
  async function locked(work: () => Promise<void>): Promise<void> {
    const locker = await admin.connect()
    await locker.query('begin')
    await locker.query('lock table given_up in access exclusive mode')
    try {
      await work()
    } finally {
      await locker.query('rollback')
      locker.release()
    }
  }

  describe.each(drivers)('through $name', ({ open }) => {
    test('ends on the server, waits there for no lock, and leaves its connection to others', async () => {
      opened = open(url!)
      const { query } = clientOf(opened.handle)
      await locked(async () => {
        for (let round = 0; round < 4; round++) {
          const all = Array.from({ length: 5 }, () => query('select * from given_up', [], { timeoutMs: 150 }))
          const reasons = (await Promise.allSettled(all)).map(({ status }) => status)
          expect(reasons).toEqual(Array(5).fill('rejected'))
          // The locker is one of those who name the table.
          expect((await backends()).all).toBeLessThanOrEqual(3 + 1)
        }
        await expect.poll(async () => (await backends()).busy, patience).toBe(0)
      })
      expect((await query('select count(*)::int as n from given_up', [])).rows).toEqual([{ n: 0 }])
    })

    test('that is late while the line is silent costs its connection, and a new one is made when the line is good', async () => {
      const line: SilentLine = await silentLine(url!)
      opened = open(line.url)
      const { query } = clientOf(opened.handle)
      // All connections of the pool are open.
      await Promise.all(Array.from({ length: 3 }, () => query('select pg_sleep(0.05)', [])))
      line.cut()
      const silent = Array.from({ length: 6 }, () => query('select 1', [], { timeoutMs: 300 }))
      expect((await Promise.allSettled(silent)).map(({ status }) => status)).toEqual(Array(6).fill('rejected'))
      // Attempts to connect hang too.
      await new Promise((resolve) => setTimeout(resolve, 3_500))
      const hanging = Array.from({ length: 6 }, () => query('select 1', [], { timeoutMs: 300 }))
      expect((await Promise.allSettled(hanging)).map(({ status }) => status)).toEqual(Array(6).fill('rejected'))
      line.mend()
      const again = async () => (await query('select 2 as n', [], { timeoutMs: 1_000 })).rows
      await expect.poll(() => again().catch(() => null), { timeout: 10_000, interval: 200 }).toEqual([{ n: 2 }])
      await line.close()
    })

    test('while the server refuses the cancel request, ends no process', async () => {
      const line: SilentLine = await silentLine(url!)
      opened = open(line.url)
      const unhandled: unknown[] = []
      const note = (cause: unknown) => void unhandled.push(cause)
      process.on('unhandledRejection', note)
      try {
        const late = clientOf(opened.handle).query('select pg_sleep(1)', [], { timeoutMs: 200 })
        await new Promise((resolve) => setTimeout(resolve, 100))
        line.refuse()
        await expect(late).rejects.toMatchObject({ code: 'unavailable' })
        await new Promise((resolve) => setTimeout(resolve, 500))
        expect(unhandled).toEqual([])
      } finally {
        process.off('unhandledRejection', note)
        await line.close()
      }
    })

    test('after a long wait in vain has the idle connections asked too, so that no other statement waits in vain', async () => {
      const line: SilentLine = await silentLine(url!)
      opened = open(line.url)
      const { query } = clientOf(opened.handle)
      await Promise.all(Array.from({ length: 3 }, () => query('select pg_sleep(0.05)', [])))
      await Promise.all(Array.from({ length: 3 }, () => query('select $1::text, pg_sleep(0.05)', ['x'], { name: 'x' })))
      // The three connections are silent for ever, and new ones pass.
      line.cut()
      line.mend()
      const late = query('select $1::text, pg_sleep(0.05)', ['x'], { name: 'x', answerMs: 5_100 })
      await expect(late).rejects.toMatchObject({ code: 'unavailable' })
      // Sent once more, as batches are: postgres.js sends statements behind one that waits, be it in vain.
      const next = () => query('select 2 as n', [], { timeoutMs: 3_500 })
      const all = Array.from({ length: 6 }, () => next().catch(next))
      expect((await Promise.all(all)).map(({ rows }) => rows)).toEqual(Array.from({ length: 6 }, () => [{ n: 2 }]))
      await line.close()
    })

    test('is told as such, with the options that make a pool safe', async () => {
      opened = open(url!)
      const late = clientOf(opened.handle).query('select pg_sleep(5)', [], { timeoutMs: 100 })
      await expect(late).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('keepAlive') })
    })
  })

  test('through pg is not sent when its time is over before there is a connection', async () => {
    opened = drivers[0]!.open(url!)
    const { query } = clientOf(opened.handle)
    const busy = Array.from({ length: 3 }, () => query('select pg_sleep(0.6)', [], { timeoutMs: 5_000 }))
    const name = `late_${Date.now()}`
    const late = query(`create table ${name} (n integer)`, [], { timeoutMs: 100 })
    await expect(late).rejects.toMatchObject({ code: 'unavailable' })
    await Promise.allSettled(busy)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect((await admin.query('select to_regclass($1) as there', [name])).rows).toEqual([{ there: null }])
  })
})

describePgbouncer(url)('behind PgBouncer, a statement that is given up', () => {
  let pgbouncer: Awaited<ReturnType<typeof startPgbouncer>>
  let admin: Pool
  beforeAll(async () => {
    pgbouncer = await startPgbouncer(url!, { servers: 3 }) // skipped where it is null
  })
  beforeEach(() => {
    admin = new Pool({ connectionString: url!, max: 1 })
  })
  afterEach(() => admin.end())
  afterAll(() => pgbouncer.stop())

  test.each(drivers)('through $name ends on the server', async ({ open }) => {
    const { handle, close } = open(pgbouncer.url)
    const { query } = clientOf(handle)
    await expect(query('select pg_sleep(30) as behind', [], { timeoutMs: 200 })).rejects.toMatchObject({
      code: 'unavailable',
    })
    const running = async () =>
      (
        await admin.query(
          "select from pg_stat_activity where query like '%30) as behind%' and state = 'active' and pid <> pg_backend_pid()",
        )
      ).rowCount
    await expect.poll(running, patience).toBe(0)
    expect((await query('select 1 as n', [])).rows).toEqual([{ n: 1 }])
    await close()
  })
})
