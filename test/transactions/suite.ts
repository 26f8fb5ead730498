import { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'

import { clientOf } from '../../adapters/postgres/client-of.ts'
import type { PostgresHandle } from '../../adapters/postgres/clients.ts'
import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { createPosthorn } from '../../adapters/node/index.ts'
import type { BoundPosthorn, Posthorn } from '../../src/surface/posthorn.ts'
import { freshSchema } from '../support/postgres.ts'

/** How a host holds transactions open. What it gives to `using` is given here. */
export interface Host {
  readonly name: string
  open(url: string): Promise<{
    /** Runs `inside` in a transaction and commits, or rolls back when it throws. */
    transaction(inside: (tx: PostgresHandle) => Promise<void>): Promise<void>
    /** A handle that is in no transaction. */
    readonly outside: PostgresHandle
    close(): Promise<void>
  }>
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const order = (id: number) => ({ event_type: 'order.created', data: { id } })

/** What holds for publishing inside a transaction, whatever library holds it open. */
export function transactionSuite(host: Host): void {
  describe.skipIf(inject('postgresUrl') === null)(`publishing inside the transaction of ${host.name}`, () => {
    const url = inject('postgresUrl') ?? ''
    const schema = freshSchema()
    const pool = new Pool({ connectionString: url, max: 10 })
    let opened: Awaited<ReturnType<Host['open']>>
    let posthorn: Posthorn
    let guarded: Posthorn
    let sent: string[]

    beforeAll(async () => {
      await migrate(pool, { schema })
      await pool.query(`create table ${schema}.orders (id integer primary key)`)
      opened = await host.open(url)
    })
    beforeEach(async () => {
      sent = []
      const options = {
        storage: postgres(pool, { schema, listen: false }),
        logger: quiet,
        http: {
          send: async ({ body }: { body: string | null }) => {
            sent.push(body ?? '')
            return { kind: 'response', status: 200, headers: {}, body: '', ended: true } as const
          },
        },
      }
      posthorn = createPosthorn(options)
      guarded = createPosthorn({ ...options, requireTransaction: true })
      await posthorn.config.sync('default', {
        endpoints: [{ id: 'shop', request: { url: 'https://shop.test/' }, events: ['*'] }],
      })
    })
    afterEach(() => posthorn.drain())
    afterAll(async () => {
      await opened.close()
      await pool.query(`drop schema ${schema} cascade`)
      await pool.end()
    })

    let orders = 0
    const insertOrder = (tx: PostgresHandle, id: number) =>
      clientOf(tx).query(`insert into ${schema}.orders (id) values ($1::int)`, [id])
    const inside = (act: (bound: BoundPosthorn, tx: PostgresHandle) => Promise<void>) =>
      opened.transaction((tx) => act(posthorn.using(tx), tx))
    const known = async (id: string) =>
      await posthorn.events.get('default', id).then(
        () => true,
        () => false,
      )

    test('an event is stored and delivered when it commits, and not before', async () => {
      const id = ++orders
      await inside(async (bound, tx) => {
        await insertOrder(tx, id)
        const event = await bound.events.create('default', order(id))
        expect(await bound.events.get('default', event.id)).toMatchObject(order(id))
        expect(await known(event.id)).toBe(false)
        await posthorn.drain()
        expect(sent).toEqual([])
      })
      await posthorn.drain()
      expect(sent).toEqual([`{"id":${id}}`])
    })

    test('nothing at all is left of it when it rolls back', async () => {
      const before = await posthorn.events.list('default', {})
      const failing = inside(async (bound, tx) => {
        await insertOrder(tx, ++orders)
        await bound.events.create('default', { ...order(orders), unique_id: `order-${orders}` })
        throw new Error('the host gives up')
      })
      await expect(failing).rejects.toThrow('the host gives up')
      expect(await posthorn.events.list('default', {})).toEqual(before)
      await posthorn.drain()
      expect(sent).toEqual([])
      const again = await posthorn.events.create('default', { ...order(orders), unique_id: `order-${orders}` })
      expect(await known(again.id)).toBe(true)
    })

    test('a savepoint that is rolled back takes what was published since with it', async () => {
      const [one, two, three] = [++orders, ++orders, ++orders]
      await inside(async (bound, tx) => {
        await bound.events.create('default', order(one))
        await clientOf(tx).query('savepoint here', [])
        await bound.events.create('default', order(two))
        await clientOf(tx).query('rollback to savepoint here', [])
        await bound.events.create('default', order(three))
      })
      await posthorn.drain()
      expect(sent.toSorted()).toEqual([`{"id":${one}}`, `{"id":${three}}`].toSorted())
    })

    test('a repeated unique_id is answered with the stored event, inside one and across two', async () => {
      const input = { ...order(++orders), unique_id: `order-${orders}` }
      let first = ''
      await inside(async (bound) => {
        first = (await bound.events.create('default', input)).id
        expect((await bound.events.create('default', input)).id).toBe(first)
      })
      await inside(async (bound, tx) => {
        expect((await bound.events.create('default', { ...input, data: { id: 0 } })).id).toBe(first)
        await insertOrder(tx, orders)
      })
      await posthorn.drain()
      expect(sent).toEqual([`{"id":${orders}}`])
    })

    test('one that another open transaction holds is waited for', async () => {
      const input = { ...order(++orders), unique_id: `order-${orders}` }
      const seen: string[] = []
      const published = signal()
      const commit = signal()
      const one = inside(async (bound) => {
        seen.push((await bound.events.create('default', input)).id)
        published.give()
        await commit.given
      })
      await published.given
      const two = inside(async (bound) => void seen.push((await bound.events.create('default', input)).id))
      await new Promise((resolve) => setTimeout(resolve, 30))
      expect(seen).toHaveLength(1)
      commit.give()
      await Promise.all([one, two])
      expect(seen[1]).toBe(seen[0])
    })

    test('all kinds of configuration are written in it, and a refusal spoils nothing', async () => {
      await inside(async (bound, tx) => {
        await insertOrder(tx, ++orders)
        const { id } = await bound.endpoints.create('default', { name: 'second', request: { url: 'https://b.test/' } })
        const taken = { code: 'unique_violation' }
        await expect(
          bound.endpoints.create('default', { id, request: { url: 'https://c.test/' } }),
        ).rejects.toMatchObject(taken)
        await expect(
          bound.endpoints.create('default', { name: 'second', request: { url: 'https://c.test/' } }),
        ).rejects.toMatchObject(taken)
        await bound.sources.create('default', { id: 'source', config: { http: { path: '/in' } } })
        await expect(bound.sources.create('default', { config: { http: { path: '/in' } } })).rejects.toMatchObject(
          taken,
        )
        const signed = await bound.plugins.create('default', { name: 'standard-webhooks', endpoint_id: id })
        await bound.plugins.delete('default', signed.id)
        await expect(
          bound.plugins.create('default', { name: 'standard-webhooks', endpoint_id: 'nobody' }),
        ).rejects.toMatchObject({
          code: 'foreign_key_violation',
        })
        await bound.workspaces.create({ id: `w-${schema}`, name: 'other' })
        await expect(bound.workspaces.create({ name: 'other' })).rejects.toMatchObject(taken)
        await bound.workspaces.delete(`w-${schema}`)
        const event = await bound.events.create('default', order(orders))
        const attempt = await bound.events.retry('default', event.id, 'shop')
        expect(await bound.attempts.get('default', attempt.id)).toMatchObject({
          status: 'QUEUED',
          trigger_mode: 'MANUAL',
        })
        expect((await bound.events.explain('default', event.id)).length).toBeGreaterThan(1)
        await expect(bound.events.create('default', { ...order(1), id: event.id })).rejects.toMatchObject(taken)
      })
      const { data } = await posthorn.endpoints.list('default', {})
      expect(data.map(({ name }) => name)).toContain('second')
      expect(await posthorn.sources.get('default', 'source')).toMatchObject({ config: { http: { path: '/in' } } })
      await posthorn.sources.delete('default', 'source')
    })

    test('an event is matched as the transaction sees the configuration, and nobody else does', async () => {
      await posthorn.events.create('default', order(++orders)) // so that the configuration is known outside
      await posthorn.drain()
      sent.length = 0
      const urls = async (eventId: string) => {
        const { data } = await posthorn.attempts.list('default', { event_id: eventId })
        return data.map(({ endpoint_id }) => endpoint_id).toSorted()
      }
      const made: string[] = []
      const failing = inside(async (bound) => {
        await bound.endpoints.create('default', { id: 'never', request: { url: 'https://never.test/' }, events: ['*'] })
        await bound.events.create('default', order(++orders))
        made.push((await posthorn.events.create('default', order(++orders))).id)
        throw new Error('the host gives up')
      })
      await expect(failing).rejects.toThrow('the host gives up')
      await inside(async (bound) => {
        await bound.endpoints.create('default', { id: 'more', request: { url: 'https://more.test/' }, events: ['*'] })
        made.push((await bound.events.create('default', order(++orders))).id)
        made.push((await posthorn.events.create('default', order(++orders))).id)
      })
      made.push((await posthorn.events.create('default', order(++orders))).id)
      expect(await Promise.all(made.map(urls))).toEqual([['shop'], ['more', 'shop'], ['shop'], ['more', 'shop']])
      await posthorn.endpoints.delete('default', 'more')
    })

    test('no request is made in it', async () => {
      await inside(async (bound) => {
        await expect(bound.endpoints.test('default', 'shop')).rejects.toMatchObject({ code: 'forbidden' })
        expect(sent).toEqual([])
      })
    })

    test('requireTransaction refuses a handle that is in none, before anything is written', async () => {
      const before = await posthorn.events.list('default', {})
      // A pool is refused by `using` itself, any other handle by the first call.
      const outside = Promise.resolve().then(() => guarded.using(opened.outside).events.create('default', order(0)))
      await expect(outside).rejects.toMatchObject({ code: 'transaction_required' })
      expect(await posthorn.events.list('default', {})).toEqual(before)
      await opened.transaction(async (tx) => {
        const bound = guarded.using(tx)
        await bound.events.create('default', order(++orders))
        await bound.events.create('default', order(++orders))
      })
      await posthorn.drain()
      expect(sent).toHaveLength(2)
    })
  })
}

function signal(): { readonly given: Promise<void>; give(): void } {
  let give = () => {}
  const given = new Promise<void>((resolve) => (give = resolve))
  return { given, give }
}
