import { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'

import type { Row } from '../../adapters/sql/values.ts'
import type { PostgresClient } from '../../adapters/postgres/clients.ts'
import { postgres } from '../../adapters/postgres/index.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { attempt, claimAll, endpoint, entry, event, made, settlement, start } from '../../src/testing/storage/rows.ts'
import { schemasOf } from '../support/postgres.ts'

const url = inject('postgresUrl')
const enqueue = { enqueue: true }
/** Longer than a look that was slowed down. */
const patience = { timeout: 10_000 }
const old = { eventsBefore: start, attemptsBefore: null, limit: 1000 }

describe.skipIf(url === null)('retention on PostgreSQL', { timeout: 30_000 }, () => {
  let pool: Pool
  let schemas: ReturnType<typeof schemasOf>
  let opened: Awaited<ReturnType<ReturnType<typeof schemasOf>['open']>>
  let revision: number
  beforeAll(() => {
    // What waits for a lock longer than this was blocked.
    pool = new Pool({ connectionString: url!, max: 8, statement_timeout: 5000 }) // skipped where it is null
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
  })

  /** Events before `start`, each with one attempt that ended. */
  const finished = async (names: readonly string[]) => {
    const { events, attempts } = opened.subject
    for (let from = 0; from < names.length; from += 500) {
      const part = names.slice(from, from + 500)
      const tries = part.map((id) => attempt(`a-${id}`, id))
      await events.ingest(
        part.map((id, i) => entry('w', revision, event(id, { created_at: start - 1, unique_id: id }), [tries[i]!])),
        { enqueue: false },
      )
      await attempts.settle(
        tries.map((one) => settlement('w', one)),
        { enqueue: false },
      )
    }
  }
  const count = async (table: string): Promise<number> =>
    Number((await pool.query(`select count(*) as n from ${opened.schema}.${table}`)).rows[0].n)

  /**
   * The events that a purge leaves. It passes over rows that another statement holds, and PostgreSQL tells that a
   * statement failed before it frees its rows.
   */
  const purged = async (storage: Storage): Promise<readonly string[]> => {
    await storage.purge(old)
    const { rows } = await pool.query<{ id: string }>(`select id from ${opened.schema}.events order by id`)
    return rows.map(({ id }) => id)
  }

  test('two who purge at once take a thousand rows at most at a time, and all of them once', async () => {
    await finished(Array.from({ length: 3000 }, (_, i) => `e${i}`))
    const purgeAll = async (): Promise<readonly number[]> => {
      const removed: number[] = []
      while (removed.at(-1) !== 0) removed.push(await opened.subject.purge(old))
      return removed
    }
    const removed = (await Promise.all([purgeAll(), purgeAll()])).flat()
    while ((await opened.subject.purge(old)) > 0);
    expect(Math.max(...removed)).toBeLessThanOrEqual(1000)
    for (const table of ['events', 'attempts', 'outcomes', 'unique_ids']) expect(await count(table), table).toBe(0)
  })

  test('writers do not wait for a purge, not even for one that is not yet committed', async () => {
    const { subject } = opened
    await finished(['old1', 'old2'])
    const tx = await pool.connect()
    await tx.query('begin')
    while ((await subject.using(tx).purge(old)) > 0);

    const published = entry('w', revision, event('new', { unique_id: 'new' }), [attempt('a-new', 'new')])
    expect(await subject.events.ingest([published], enqueue)).toEqual([{ kind: 'stored' }])
    const [claim] = await claimAll(subject)
    expect(claim?.id).toBe('a-new')
    const [delivery] = await subject.attempts.load(['a-new'])
    const ending = settlement('w', delivery!.attempt, { claim: claim! })
    expect(await subject.attempts.settle([ending], enqueue)).toEqual([{ settled: true, disabled: false }])

    await tx.query('commit')
    tx.release()
    expect((await subject.events.get('w', 'new'))?.id).toBe('new')
    expect(await subject.events.get('w', 'old1')).toBeNull()
  })

  test('an event to which a host’s open transaction adds an attempt is passed over, and kept once that commits', async () => {
    const { subject } = opened
    await finished(['again', 'gone'])
    await subject.purge({ eventsBefore: null, attemptsBefore: Number.MAX_SAFE_INTEGER, limit: 1000 })
    const tx = await pool.connect()
    await tx.query('begin')
    await subject.using(tx).attempts.add('w', [attempt('retry', 'again')], enqueue)
    while ((await subject.purge(old)) > 0);
    await tx.query('commit')
    tx.release()
    while ((await subject.purge(old)) > 0);
    expect((await subject.events.get('w', 'again'))?.id).toBe('again')
    expect((await subject.attempts.get('w', 'retry'))?.status).toBe('OPEN')
    expect(await subject.events.get('w', 'gone')).toBeNull()
  })

  test('a purge goes on although attempts are added between its look and its lock several times', async () => {
    await finished(['e1', 'e2', 'e3', 'gone'])
    const { subject } = opened
    await subject.purge({ eventsBefore: null, attemptsBefore: Number.MAX_SAFE_INTEGER, limit: 1000 })
    const left = ['e1', 'e2', 'e3']
    const kept: string[] = []
    const slow: PostgresClient = {
      async query(text, values) {
        const isLook = text.includes('for update skip locked\n    ),\n    forgotten') && text.includes('created_at <')
        const name = isLook ? left.shift() : undefined
        if (name === undefined) return await pool.query<Row>(text, values)
        const adding = subject.attempts.add('w', [attempt(`retry-${name}`, name)], enqueue)
        const looking = pool.query<Row>(
          text.replace('for update skip locked', 'and (select pg_sleep(1)) is not null for update skip locked'),
          values,
        )
        await Promise.allSettled([adding, looking])
        // Not where the machine was busy for a second: then the purge came first.
        if ((await adding)[0]) kept.push(name)
        return await looking
      },
    }
    const storage = postgres(slow, { schema: opened.schema })
    while (left.length > 0) await storage.purge(old)
    await expect.poll(() => purged(storage), patience).toEqual(kept)
  })

  test('an event to which an attempt is added between the look of a purge and its lock is kept', async () => {
    await finished(['again', 'gone'])
    const { subject } = opened
    await subject.purge({ eventsBefore: null, attemptsBefore: Number.MAX_SAFE_INTEGER, limit: 1000 })
    let looks = 0
    const slow: PostgresClient = {
      query(text, values) {
        if (!text.includes('for update skip locked\n    ),\n    forgotten') || ++looks > 1)
          return pool.query<Row>(text, values)
        const adding = subject.attempts.add('w', [attempt('retry', 'again')], enqueue)
        const looking = pool.query<Row>(
          text.replace('for update skip locked', 'and (select pg_sleep(1)) is not null for update skip locked'),
          values,
        )
        return adding.then(() => looking)
      },
    }
    const storage = postgres(slow, { schema: opened.schema })
    await expect.poll(() => purged(storage), patience).toEqual(['again'])
    expect(looks).toBeGreaterThan(1)
    expect((await subject.attempts.get('w', 'retry'))?.status).toBe('OPEN')
    expect(await count('revisited')).toBe(1)

    const [claim] = await claimAll(subject)
    await subject.attempts.settle([settlement('w', attempt('retry', 'again'), { claim: claim! })], enqueue)
    while ((await subject.purge({ ...old, attemptsBefore: Number.MAX_SAFE_INTEGER })) > 0);
    for (const table of ['events', 'attempts', 'revisited']) expect(await count(table), table).toBe(0)
  })

  test('what the queue and the limiter keep of an endpoint goes after it', async () => {
    const { subject } = opened
    const limit = { quota: 1, period: 60 }
    for (const id of ['kept', 'deleted']) await subject.endpoints.insert('w', endpoint(id))
    const jobs = ['kept', 'deleted'].map((group) => ({ id: `job-${group}`, workspace: 'w', group, due_at: start }))
    await subject.queue.add(jobs)
    await subject.queue.pause([{ group: 'deleted', until: start }])
    await subject.limiter.take(
      ['kept', 'deleted'].map((id) => ({ key: `endpoint:${id}`, limit, want: 1 })),
      start,
    )
    await subject.endpoints.delete('w', 'deleted')
    await subject.purge(old)
    expect([await count('groups'), await count('limits')], 'while a job is there').toEqual([1, 1])

    await subject.queue.complete(await claimAll(subject))
    await subject.purge(old)
    const { rows } = await pool.query(`select id from ${opened.schema}.groups`)
    expect(rows).toEqual([{ id: 'kept' }])
    expect(await count('limits')).toBe(1)
  })

  test('the line of a workspace goes when it had no work for an hour', async () => {
    const { subject } = opened
    const job = (workspace: string) => ({ id: `job-${workspace}`, workspace, group: `g-${workspace}`, due_at: start })
    await subject.queue.add([job('idle')])
    await subject.queue.complete(await claimAll(subject, start))
    await subject.queue.add([job('served'), job('waiting')])
    const claims = await claimAll(subject, start + 3_600_001)
    await subject.queue.release(claims.filter(({ workspace }) => workspace === 'waiting'))
    await subject.queue.complete(claims.filter(({ workspace }) => workspace === 'served'))
    await subject.purge(old)
    const { rows } = await pool.query(`select workspace from ${opened.schema}.lines order by workspace`)
    expect(rows).toEqual([{ workspace: 'served' }, { workspace: 'waiting' }])
  })
})
