import { type Client, Pool } from 'pg'
import postgresJs from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'

import type { BoundStorage } from '../../src/contracts/storage.ts'
import { attempt, claimAll, endpoint, entry, event, made, start } from '../../src/testing/storage/rows.ts'
import { schemasOf } from '../support/postgres.ts'

const url = inject('postgresUrl')

/** The ways in which hosts hold a transaction open: each runs `inside` and commits, or rolls back when it throws. */
const transactions = [
  {
    name: 'a pg client',
    async run(pool: Pool, _sql: postgresJs.Sql, inside: (tx: unknown) => Promise<void>) {
      const client = await pool.connect()
      try {
        await client.query('begin')
        await inside(client)
        await client.query('commit')
      } catch (error) {
        await client.query('rollback')
        throw error
      } finally {
        client.release()
      }
    },
  },
  {
    name: 'a postgres.js transaction',
    async run(_pool: Pool, sql: postgresJs.Sql, inside: (tx: unknown) => Promise<void>) {
      await sql.begin((tx) => inside(tx))
    },
  },
  {
    name: 'a wrapper around another driver',
    run(pool: Pool, sql: postgresJs.Sql, inside: (tx: unknown) => Promise<void>): Promise<void> {
      // As for Drizzle, Kysely or Prisma: only a text, its values, and rows.
      const wrapped = (tx: Client) => ({
        query: async (text: string, values: unknown[]) => ({ rows: (await tx.query(text, values)).rows }),
      })
      return transactions[0]!.run(pool, sql, (tx) => inside(wrapped(tx as Client)))
    },
  },
]

const published = (revision: number, id: string, unique_id: string | null = null) =>
  entry('w', revision, event(id, { unique_id }), [attempt(`a-${id}`, id)])

describe.skipIf(url === null)('publishing inside the host’s transaction', () => {
  let pool: Pool
  let sql: postgresJs.Sql
  let schemas: ReturnType<typeof schemasOf>
  let opened: Awaited<ReturnType<ReturnType<typeof schemasOf>['open']>>
  let revision: number
  beforeAll(() => {
    pool = new Pool({ connectionString: url!, max: 10 }) // skipped where it is null
    sql = postgresJs(url!, { max: 5, onnotice: () => {} })
    schemas = schemasOf(pool)
  })
  beforeEach(async () => {
    opened = await schemas.open({ listen: false })
    revision = await made(opened.subject, 'w')
    return () => opened.close()
  })
  afterAll(async () => {
    await schemas.drop()
    await pool.end()
    await sql.end({ timeout: 1 })
  })

  describe.each(transactions)('through $name', ({ run }) => {
    const inside = (act: (bound: BoundStorage) => Promise<void>) =>
      run(pool, sql, (tx) => act(opened.subject.using(tx)))

    test('event, attempts and jobs are there once it commits, and not before', async () => {
      await inside(async (bound) => {
        expect(await bound.events.ingest([published(revision, 'e1')], { enqueue: true })).toEqual([{ kind: 'stored' }])
        expect((await bound.events.get('w', 'e1'))?.id).toBe('e1')
        expect(await opened.subject.events.get('w', 'e1')).toBeNull()
        expect(await claimAll(opened.subject)).toEqual([])
      })
      expect((await opened.subject.events.get('w', 'e1'))?.id).toBe('e1')
      expect((await claimAll(opened.subject)).map(({ id }) => id)).toEqual(['a-e1'])
    })

    test('nothing is left of it when it rolls back', async () => {
      const failing = inside(async (bound) => {
        await bound.events.ingest([published(revision, 'e1', 'u')], { enqueue: true })
        throw new Error('the host gives up')
      })
      await expect(failing).rejects.toThrow('the host gives up')
      expect(await opened.subject.events.get('w', 'e1')).toBeNull()
      expect(await opened.subject.queue.stats(start)).toEqual({ size: 0, oldestDueAt: null })
      const again = await opened.subject.events.ingest([published(revision, 'e2', 'u')], { enqueue: true })
      expect(again).toEqual([{ kind: 'stored' }])
    })

    test('a handle tells whether it is inside one', async () => {
      await inside(async (bound) => expect(await bound.inTransaction()).toBe(true))
      const client = await pool.connect()
      const reserved = await sql.reserve()
      for (const handle of [client, reserved]) expect(await opened.subject.using(handle).inTransaction()).toBe(false)
      reserved.release()
      client.release()
    })

    test('a refusal that could be foreseen is an answer, after which the host goes on', async () => {
      await opened.subject.events.ingest([published(revision, 'e1', 'u')], { enqueue: true })
      await opened.subject.endpoints.insert('w', endpoint('ep', { name: 'taken' }))
      const now = (await opened.subject.configuration('w'))!.revision // just made
      await inside(async (bound) => {
        const answers = await bound.events.ingest(
          [
            published(now, 'e2', 'u'),
            published(now, 'e1'),
            published(revision, 'e3'),
            published(now, 'e4', 'v'),
            published(now, 'e5', 'v'),
            { ...published(now, 'e6'), event: event('e6', { data: '"\0"' }) },
          ],
          { enqueue: true },
        )
        const kinds = ['duplicate', 'id_taken', 'stale', 'stored', 'duplicate', 'rejected']
        expect(answers.map(({ kind }) => kind)).toEqual(kinds)
        expect(await bound.endpoints.insert('w', endpoint('ep'))).toMatchObject({ kind: 'unique', key: { id: 'ep' } })
        expect(await bound.endpoints.insert('w', endpoint('ep2', { name: 'taken' }))).toMatchObject({ kind: 'unique' })
        expect(await bound.attempts.add('w', [attempt('a', 'nothing')], { enqueue: true })).toEqual([false])
        expect(await bound.endpoints.insert('w', endpoint('ep3'))).toBe('written')
      })
      expect((await opened.subject.events.get('w', 'e4'))?.id).toBe('e4')
      expect((await opened.subject.endpoints.get('w', 'ep3'))?.row.id).toBe('ep3')
    })
  })

  test('what is no handle is refused', () => {
    for (const tx of [undefined, null, 1, 'tx', {}, () => {}]) {
      expect(() => opened.subject.using(tx)).toThrow(expect.objectContaining({ code: 'transaction_required' }))
    }
  })

  test('a unique_id that another open transaction holds is waited for', async () => {
    const [one, other] = [await pool.connect(), await pool.connect()]
    for (const client of [one, other]) await client.query('begin')
    await opened.subject.using(one).events.ingest([published(revision, 'e1', 'u')], { enqueue: true })
    const waiting = opened.subject.using(other).events.ingest([published(revision, 'e2', 'u')], { enqueue: true })
    const early = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 50, 'waits'))])
    expect(early).toBe('waits')
    await one.query('commit')
    expect(await waiting).toMatchObject([{ kind: 'duplicate', event: { id: 'e1' } }])
    await other.query('commit')
    for (const client of [one, other]) client.release()
  })

  test('open transactions to one endpoint, and claims of it, do not wait for each other', async () => {
    await opened.subject.events.ingest([published(revision, 'e0')], { enqueue: true })
    const [one, other] = [await pool.connect(), await pool.connect()]
    for (const client of [one, other]) await client.query('begin')
    await opened.subject.using(one).events.ingest([published(revision, 'e1')], { enqueue: true })
    await opened.subject.using(other).events.ingest([published(revision, 'e2')], { enqueue: true })
    expect((await claimAll(opened.subject)).map(({ id }) => id)).toEqual(['a-e0'])
    for (const client of [one, other]) await client.query('commit')
    for (const client of [one, other]) client.release()
    expect((await claimAll(opened.subject)).map(({ id }) => id)).toEqual(['a-e1', 'a-e2'])
  })

  test('a savepoint that is rolled back takes with it what was published since', async () => {
    const client = await pool.connect()
    await client.query('begin')
    const bound = opened.subject.using(client)
    await bound.events.ingest([published(revision, 'e1')], { enqueue: true })
    await client.query('savepoint here')
    await bound.events.ingest([published(revision, 'e2')], { enqueue: true })
    await client.query('rollback to savepoint here')
    await bound.events.ingest([published(revision, 'e3')], { enqueue: true })
    await client.query('commit')
    client.release()
    expect((await claimAll(opened.subject)).map(({ id }) => id)).toEqual(['a-e1', 'a-e3'])
  })

  test('notifications are part of other statements, none with wake: false, and no statement is named', async () => {
    const sent: { text: string; name?: string }[] = []
    const client = await pool.connect()
    const spy = {
      query(text: string, values: unknown[], options?: { name?: string }) {
        sent.push({ text, ...options })
        return client.query(text, values)
      },
    }
    const notified = () => sent.filter(({ text }) => text.includes('pg_notify')).length
    for (const [wake, count] of [[true, 3] as const, [false, 0] as const]) {
      sent.length = 0
      await client.query('begin')
      const bound = opened.subject.using(spy, { wake })
      for (let i = 0; i < 3; i++) {
        await bound.events.ingest([published(revision, `e${Number(wake)}${i}`)], { enqueue: true })
      }
      await client.query('commit')
      expect(sent).toHaveLength(3)
      expect(notified()).toBe(count)
      expect(sent.every(({ name }) => name === undefined)).toBe(true)
    }
    client.release()
  })
})
