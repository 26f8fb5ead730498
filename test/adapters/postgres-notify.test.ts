import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { createPosthorn } from '../../adapters/node/index.ts'
import { postgres } from '../../adapters/postgres/index.ts'
import type { HttpClient } from '../../src/contracts/http-client.ts'
import type { Options } from '../../src/options.ts'
import { attempt, entry, event, filled, made, settlement } from '../../src/testing/storage/rows.ts'
import { ok } from '../support/held-http.ts'
import { claimOptions } from '../support/claim-options.ts'
import { schemasOf } from '../support/postgres.ts'

const url = inject('postgresUrl')
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const order = { event_type: 'order.created', data: {} }
const answering: HttpClient = { send: async () => ok }
const isNotify = (text: string) => text.includes('pg_notify')

describe.skipIf(url === null)('wake-ups on PostgreSQL', () => {
  let pool: Pool
  let schemas: ReturnType<typeof schemasOf>
  beforeAll(() => {
    pool = new Pool({ connectionString: url!, max: 20 }) // skipped where it is null
    pool.on('error', () => {})
    schemas = schemasOf(pool)
  })
  afterAll(async () => {
    await schemas.drop()
    await pool.end()
  })

  /** A process that tells each of its statements, with the time. */
  async function spied(options: Options = {}) {
    const { schema, close } = await schemas.open()
    const sent: { readonly text: string; readonly at: number }[] = []
    const query = (text: string, values: unknown[]) => {
      sent.push({ text, at: performance.now() })
      return pool.query(text, values)
    }
    const storage = postgres({ query }, { schema })
    const posthorn = createPosthorn({ storage, http: answering, logger: quiet, ...options })
    await posthorn.endpoints.create('default', { id: 'e', request: { url: 'https://a.test/' }, events: ['*'] })
    await rested()
    return {
      schema,
      storage,
      posthorn,
      notified: () => sent.filter(({ text }) => isNotify(text)),
      async end() {
        await posthorn.stop({ timeoutMs: 0 })
        await rested()
        await close()
      },
      forget: () => void sent.splice(0),
    }
  }
  /** What was to be told after the longest rest, 50 ms, has been told. */
  const rested = () => new Promise((resolve) => setTimeout(resolve, 80))

  test('who listens is told whether it was this very adapter that added or gave back jobs', async () => {
    const { subject, schema, close } = await schemas.open()
    const other = postgres(pool, { schema })
    const [here, there]: string[][] = [[], []]
    const stops = [
      await subject.queue.onAdded!((where) => here!.push(where)),
      await other.queue.onAdded!((where) => there!.push(where)),
    ]
    const told = async (where: readonly string[], elsewhere: readonly string[]) => {
      await expect.poll(() => [here, there]).toEqual([where, elsewhere])
      here!.length = there!.length = 0
      await rested()
    }
    await subject.queue.add([{ id: 'a', workspace: 'w', group: 'g', due_at: 1 }])
    await told(['here'], ['elsewhere'])
    await other.queue.add([{ id: 'b', workspace: 'w', group: 'g', due_at: 1 }])
    await told(['elsewhere'], ['here'])
    await subject.queue.release(await subject.queue.claim(claimOptions({ now: 1 })))
    await told(['here'], ['elsewhere'])

    const connection = await pool.connect()
    await connection.query('begin')
    await subject.using(connection).queue!.add([{ id: 'c', workspace: 'w', group: 'g', due_at: 1 }])
    await connection.query('commit')
    await told(['elsewhere'], ['elsewhere'])
    await subject.using(connection, { wake: false }).queue!.add([{ id: 'd', workspace: 'w', group: 'g', due_at: 1 }])
    connection.release()

    await pool.query(`select pg_notify($1, '["jobs"]')`, [schema]) // as the version before announced
    await told(['elsewhere'], ['elsewhere'])
    for (const stop of stops) await stop()
    await other.close()
    await close()
  })

  test('one that only publishes tells the others, and in a burst not with each event', async () => {
    const { posthorn, notified, forget, end } = await spied()
    forget()
    const startedAt = performance.now()
    const publisher = async () => {
      while (performance.now() - startedAt < 300) await posthorn.events.create('default', order)
    }
    await Promise.all(Array.from({ length: 16 }, publisher))
    await rested()
    const times = notified().map(({ at }) => at)
    expect(times.length).toBeGreaterThan(1)
    // Timers of Node may come a millisecond early.
    for (const [i, at] of times.entries()) if (i > 0) expect(at - times[i - 1]!).toBeGreaterThanOrEqual(4)
    await end()
  })

  test('events that come one by one are told one by one', async () => {
    const { posthorn, notified, forget, end } = await spied()
    for (let i = 0; i < 5; i++) {
      forget()
      await posthorn.events.create('default', order)
      expect(notified()).toHaveLength(1)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await end()
  })

  test('no statement that stores or settles holds one', async () => {
    const { schema, close } = await schemas.open()
    const sent: string[] = []
    const query = (text: string, values: unknown[]) => {
      sent.push(text)
      return pool.query(text, values)
    }
    const storage = postgres({ query }, { schema })
    const revision = await made(storage, 'w')
    const [one, two] = [attempt('a1', 'e'), attempt('a2', 'e')]
    await storage.events.ingest([entry('w', revision, event('e'), [one, two])], { enqueue: true })
    await rested()
    const notified = () => sent.filter(isNotify).length
    expect(notified()).toBe(1)

    const next = (id: string, scheduled_at: number) => ({ ...attempt(id, 'e'), attempt_number: 2, scheduled_at })
    const failed = (of: typeof one, then: typeof one) => settlement('w', of, { status: 'FAILED', next: then })
    const at = settlement('w', one).settled_at
    sent.length = 0
    await storage.attempts.settle([failed(one, next('b1', at + 60_000))], { enqueue: true })
    await rested()
    expect(notified(), 'of a follow-up that is due later').toBe(0)
    await storage.attempts.settle([failed(two, next('b2', at))], { enqueue: true })
    await rested()
    expect(notified(), 'of one that is due at once').toBe(1)
    await storage.attempts.settle([failed(next('b1', at + 60_000), next('c1', at))], { enqueue: true })
    await rested()
    expect(notified(), 'and of another one').toBe(2)
    for (const text of sent.filter(isNotify)) expect(text).not.toMatch(/insert|update|delete/)
    await close()
  })

  test('a worker that lost its connection for listening goes on, under the configuration of now', async () => {
    const { subject, schema, close } = await schemas.open()
    await filled(subject, [])
    const sent: string[] = []
    const http: HttpClient = {
      send: async ({ url: to }) => {
        sent.push(to)
        return ok
      },
    }
    const own = new Pool({ connectionString: url!, max: 5 })
    own.on('error', () => {})
    const worker = createPosthorn({ storage: postgres(own, { schema }), http, logger: quiet })
    const other = createPosthorn({ storage: postgres(pool, { schema, listen: false }), logger: quiet })
    await other.endpoints.create('w', { id: 'old', request: { url: 'https://old.test/' }, events: ['*'] })
    await worker.start()
    await other.events.create('w', order)
    await expect.poll(() => sent).toEqual(['https://old.test/'])
    const killed = await pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen "${schema}"%'`,
    )
    expect(killed.rows).toHaveLength(1)
    await other.endpoints.update('w', 'old', { request: { url: 'https://new.test/' } })
    await other.events.create('w', order)
    await expect.poll(() => sent, { timeout: 15_000 }).toEqual(['https://old.test/', 'https://new.test/'])
    await worker.stop()
    await own.end()
    await close()
  })
})
