import { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'

import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { oneRow } from '../../adapters/postgres/migrations/18-one-row.ts'
import { migrations } from '../../adapters/postgres/migrations.ts'
import { migrationText } from '../../adapters/postgres/migration-text.ts'
import type { Claim } from '../../src/contracts/queue.ts'
import type { Settlement } from '../../src/contracts/storage/attempts.ts'
import { attempt, entry, event, made, settlement, start } from '../../src/testing/storage/rows.ts'
import { claimOptions } from '../support/claim-options.ts'
import { freshSchema } from '../support/postgres.ts'

const url = inject('postgresUrl')
const lastStep = oneRow.version
const enqueue = { enqueue: true }

describe.skipIf(url === null)('open attempts in the rows of their jobs', () => {
  let pool: Pool
  let schema: string
  beforeAll(() => {
    pool = new Pool({ connectionString: url!, max: 5 }) // skipped where it is null
  })
  afterAll(() => pool.end())
  beforeEach(() => {
    schema = freshSchema()
  })
  afterEach(() => pool.query(`drop schema ${schema} cascade`))

  const open = () => postgres(pool, { schema, listen: false })
  const count = async (from: string) => {
    const { rows } = await pool.query<{ n: number }>(`select count(*)::int as n from ${schema}.${from}`)
    return rows[0]!.n
  }
  /** How many open attempts stand beside their jobs, and how many in the rows of their jobs. */
  const forms = async () => [await count('open_attempts'), await count('jobs where workspace is not null')]
  const hasLastStep = async () => (await count(`migrations where version = ${lastStep}`)) === 1

  /** A schema that was made by steps before the last, some time ago. */
  async function beforeLastStep(): Promise<void> {
    const steps = migrations.filter(({ version }) => version < lastStep)
    await pool.query(migrationText({ schema, lockTimeoutMs: 5_000, steps }))
  }
  const longAgo = () => pool.query(`update ${schema}.expansions set applied_at = applied_at - interval '6 minutes'`)

  /** A storage with the workspace w and events, each with an attempt to `ep`. */
  async function withEvents(ids: readonly string[], storage = open()) {
    const revision = await made(storage, 'w')
    await publish(storage, ids, revision)
    return { storage, revision }
  }
  const publish = (storage: ReturnType<typeof open>, ids: readonly string[], revision: number) =>
    storage.events.ingest(
      ids.map((id) => entry('w', revision, event(id), [attempt(`a${id}`, id)])),
      enqueue,
    )
  const claimAll = (storage: ReturnType<typeof open>, leaseMs = 60_000) =>
    storage.queue.claim(claimOptions({ now: start + 1, leaseMs }))
  const openIds = async (storage: ReturnType<typeof open>) => {
    const query = { status: 'OPEN', limit: 100, page: null, after: null, before: null, descending: false } as const
    return (await storage.attempts.list('w', query)).rows.map(({ id }) => id)
  }
  const overdueIds = async (storage: ReturnType<typeof open>, unqueued: boolean) =>
    (await storage.attempts.overdue({ before: start + 1000, after: null, limit: 100, unqueued })).map(({ id }) => id)
  const settle = (storage: ReturnType<typeof open>, claims: readonly Claim[], more: Partial<Settlement> = {}) =>
    storage.attempts.settle(
      claims.map((claim) => settlement('w', attempt(claim.id, claim.id.slice(1)), { claim, ...more })),
      enqueue,
    )
  const settled = { settled: true, disabled: false }

  test('are written so in a schema that is made new, and without a job where another queue is used', async () => {
    await migrate(pool, { schema })
    expect(await hasLastStep()).toBe(true)
    const { storage, revision } = await withEvents(['1'])
    expect(await forms()).toEqual([0, 1])
    await storage.events.ingest([entry('w', revision, event('2'), [attempt('a2', '2')])], { enqueue: false })
    expect(await forms()).toEqual([1, 1])
    expect(await openIds(storage)).toEqual(['a1', 'a2'])
    expect(await overdueIds(storage, false)).toEqual(['a1', 'a2'])
    expect(await overdueIds(storage, true)).toEqual(['a2'])
  })

  test('wait for processes of the version before: for those that were seen, and five minutes for others', async () => {
    await beforeLastStep()
    await migrate(pool, { schema })
    expect(await hasLastStep()).toBe(false)
    await open().verify()
    await longAgo()
    await pool.query(
      `insert into ${schema}.processes (id, version, runtime, started_at, seen_at, in_flight, sent)
       values ('old', '0.1.0', 'node', 1, extract(epoch from now()) * 1000 - 250000, 0, 0)`,
    )
    await migrate(pool, { schema })
    expect(await hasLastStep()).toBe(false)
    await pool.query(`update ${schema}.processes set seen_at = seen_at - 100000`)
    await open().processes.seen(
      { id: 'new', version: '0.1.0', runtime: 'node', started_at: 1, seen_at: Date.now(), in_flight: 0, sent: 0 },
      0,
    )
    await migrate(pool, { schema })
    expect(await hasLastStep()).toBe(true)
  })

  test('those of before the last step go on after it: claimed, loaded, listed and settled as others', async () => {
    await beforeLastStep()
    const { revision } = await withEvents(['1', '2', '3'])
    expect(await forms()).toEqual([3, 0])
    const early = open()
    const [held] = await early.queue.claim(claimOptions({ now: start + 1, limit: 1, leaseMs: 60_000 }))
    await longAgo()
    await migrate(pool, { schema })
    const storage = open()
    await publish(storage, ['4', '5'], revision)
    expect(await forms()).toEqual([3, 2])
    expect(await openIds(storage)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5'])
    expect(await overdueIds(storage, false)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5'])
    const claims = await claimAll(storage)
    expect(claims).toHaveLength(4)
    const loaded = await storage.attempts.load(['a1', 'a2', 'a3', 'a4', 'a5', 'none'])
    expect(loaded.map(({ attempt: { id } }) => id)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5'])
    expect(await settle(storage, [...claims, held!])).toEqual(Array.from({ length: 5 }, () => settled))
    expect(await forms()).toEqual([0, 0])
    expect(await count('jobs')).toBe(0)
  })

  test('a process that has not noticed the last step settles those that others wrote', async () => {
    await beforeLastStep()
    const late = open()
    const { revision } = await withEvents(['1'], late)
    await longAgo()
    await migrate(pool, { schema })
    await publish(open(), ['2'], revision)
    await publish(late, ['3'], revision)
    expect(await forms()).toEqual([2, 1])
    expect(await settle(late, await claimAll(late))).toEqual([settled, settled, settled])
    expect(await forms()).toEqual([0, 0])
    expect(await count('outcomes')).toBe(3)
    expect(await count('jobs')).toBe(0)
  })

  test('in a transaction of the host nothing is asked for it: attempts are written so as soon as it is known', async () => {
    await migrate(pool, { schema })
    const storage = open()
    const revision = await made(storage, 'w')
    const publishBound = async (id: string) => {
      const client = await pool.connect()
      await client.query('begin')
      await storage.using(client).events.ingest([entry('w', revision, event(id), [attempt(`a${id}`, id)])], enqueue)
      await client.query('commit')
      client.release()
    }
    let n = 0
    const next = async () => {
      await publishBound(String(++n))
      return (await forms())[1]
    }
    await expect.poll(next).toBeGreaterThan(0)
    expect(await settle(storage, await claimAll(storage))).toEqual(Array.from({ length: n }, () => settled))
  })

  test('no process of the version before gets hold of one', async () => {
    await migrate(pool, { schema })
    const { storage } = await withEvents(['1'])
    const claimedBefore = pool.query(`update ${schema}.jobs set held_until = ${start + 60_000}, token = 'of-before'`)
    await expect(claimedBefore).rejects.toMatchObject({ code: '23514', constraint: 'jobs_one_row' })
    expect(await claimAll(storage)).toHaveLength(1)
  })

  test('a claim that is completed without an outcome leaves its attempt open, to be found', async () => {
    await migrate(pool, { schema })
    const { storage } = await withEvents(['1'])
    await storage.queue.complete(await claimAll(storage))
    expect(await forms()).toEqual([1, 0])
    expect(await overdueIds(storage, true)).toEqual(['a1'])
    await storage.queue.add(await storage.attempts.overdue({ before: start + 1000, after: null, limit: 10 }))
    expect(await settle(storage, await claimAll(storage))).toEqual([settled])
    expect(await count('jobs')).toBe(0)
  })

  test('a settlement whose lease ran out leaves the job to who holds it now', async () => {
    await migrate(pool, { schema })
    const { storage } = await withEvents(['1'])
    const lapsed = await claimAll(storage, 10)
    const [held] = await storage.queue.claim(claimOptions({ now: start + 100, leaseMs: 60_000 }))
    expect(await settle(storage, lapsed)).toEqual([settled])
    expect(await storage.queue.extend([held!], start + 120_000)).toEqual([])
    expect(await storage.attempts.load(['a1'])).toEqual([])
    expect(await settle(storage, [held!], { settled_at: start + 500 })).toEqual([{ settled: false, disabled: false }])
    expect(await count('jobs')).toBe(0)
  })

  test('are erased and purged with their jobs, and keep their events from a purge', async () => {
    await migrate(pool, { schema })
    const { storage } = await withEvents(['1', '2'])
    const all = { eventsBefore: start + 60_000, attemptsBefore: start + 60_000, limit: 100 }
    expect(await storage.purge(all)).toBe(0)
    expect(await storage.events.erase('w', ['1'])).toBe(1)
    expect(await forms()).toEqual([0, 1])
    await storage.workspaces.delete('w')
    while ((await storage.purge(all)) > 0);
    expect(await forms()).toEqual([0, 0])
    expect(await count('jobs')).toBe(0)
    expect(await count('attempts')).toBe(0)
  })

  test('a job that was there before its attempt becomes the open attempt', async () => {
    await migrate(pool, { schema })
    const storage = open()
    const revision = await made(storage, 'w')
    await storage.queue.add([{ id: 'a1', workspace: 'w', group: 'ep', due_at: start }])
    await publish(storage, ['1'], revision)
    expect(await forms()).toEqual([0, 1])
    expect(await settle(storage, await claimAll(storage))).toEqual([settled])
  })
})
