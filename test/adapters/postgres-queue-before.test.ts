import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { migrations } from '../../adapters/postgres/migrations.ts'
import type { Claim, Job, Queue } from '../../src/contracts/queue.ts'
import { random } from '../../src/testing/random.ts'
import { claimOptions } from '../support/claim-options.ts'
import { freshSchema } from '../support/postgres.ts'
import { queueBefore } from '../support/postgres-queue-before.ts'

const url = inject('postgresUrl')
const now = 1_000_000

describe.skipIf(url === null)('the queue of the version before, on PostgreSQL', () => {
  let pool: Pool
  beforeAll(() => {
    pool = new Pool({ connectionString: url!, max: 20 }) // skipped where it is null
  })
  afterAll(() => pool.end())

  /** A schema of version 3 with the endpoints g0 to g7 of the workspaces w0 to w3. */
  async function before() {
    const schema = freshSchema()
    await pool.query(`create schema ${schema}`)
    await pool.query(
      `create table ${schema}.migrations (version integer primary key, applied_at timestamptz not null default now())`,
    )
    for (const { version, sql } of migrations.filter((each) => each.version <= 3)) {
      await pool.query(sql.replaceAll('$schema', schema))
      await pool.query(`insert into ${schema}.migrations (version) values (${version})`)
    }
    await pool.query(`
      insert into ${schema}.workspaces (id, metadata, created_at, document, revision, written)
      select 'w' || i, '{}', 1, '{}', i, i from generate_series(0, 3) i`)
    await pool.query(`
      insert into ${schema}.endpoints (id, workspace, enabled, url, metadata, created_at, updated_at, document, revision)
      select 'g' || i, w.key, true, 'https://a.test', '{}', 1, 1, '{"events":[]}', 1
      from generate_series(0, 7) i join ${schema}.workspaces w on w.id = 'w' || i % 4`)
    return { schema, old: queueBefore(pool, schema), drop: () => pool.query(`drop schema ${schema} cascade`) }
  }
  const oldClaim = { limit: 100, cap: 100, busy: {}, leaseMs: 1000, now }
  const job = (id: string, n: number, due_at: number) => ({ id, group: `g${n}`, due_at })
  const open = (schema: string): Queue => postgres(pool, { schema, listen: false }).queue
  const shown = (claims: readonly Claim[]) => claims.map(({ id, workspace }) => `${id} of ${workspace}`).toSorted()

  test('its store goes on: what waits, is held, is due later or paused', async () => {
    const { schema, old, drop } = await before()
    await old.add([job('held', 0, 1), job('waiting', 0, 2)])
    const held = await old.claim({ ...oldClaim, limit: 1, leaseMs: 500 })
    expect(held).toHaveLength(1)
    await old.add([job('later', 1, now + 5000), job('paused', 2, 3), job('gone', 9, 4)])
    await old.pause([{ group: 'g2', until: now + 2000 }])
    await old.claim({ ...oldClaim, limit: 1, cap: 0 }) // works hints in
    await old.add([job('hinted', 3, 5)])

    await migrate(pool, { schema })
    const queue = open(schema)
    expect(await queue.stats(now)).toEqual({ size: 6, oldestDueAt: 2 })
    expect(shown(await queue.claim(claimOptions({ now, leaseMs: 60_000 })))).toEqual([
      'gone of ',
      'hinted of w3',
      'waiting of w0',
    ])
    expect(await queue.extend([{ ...job('held', 0, 1), workspace: 'w0', token: held[0]!.token }], now + 600)).toEqual(
      [],
    )
    expect(shown(await queue.claim(claimOptions({ now: now + 599, leaseMs: 60_000 })))).toEqual([])
    expect(shown(await queue.claim(claimOptions({ now: now + 600, leaseMs: 60_000 })))).toEqual(['held of w0'])
    expect(await queue.nextDueAt!(now + 600)).toBe(now + 2000)
    expect(shown(await queue.claim(claimOptions({ now: now + 2000, leaseMs: 60_000 })))).toEqual(['paused of w2'])
    expect(shown(await queue.claim(claimOptions({ now: now + 5000, leaseMs: 60_000 })))).toEqual(['later of w1'])
    await drop()
  })

  test('jobs that only a process of it knew of are found within a minute', async () => {
    const { schema, old, drop } = await before()
    await migrate(pool, { schema })
    const queue = open(schema)
    expect(await queue.claim(claimOptions({ now }))).toEqual([])
    await old.add([job('a', 4, 1), job('b', 5, 2), job('c', 12, 3)])
    expect(await old.claim({ ...oldClaim, cap: 0 }), 'which worked their hints in').toEqual([])
    expect(shown(await queue.claim(claimOptions({ now: now + 60_000 })))).toEqual(['a of w0', 'b of w1', 'c of '])
    await drop()
  })

  test('processes of both share jobs: each is taken once, and none is lost', { timeout: 60_000 }, async () => {
    for (const seed of [1, 2, 3, 4]) {
      const { schema, old, drop } = await before()
      await migrate(pool, { schema })
      const queue = open(schema)
      const { below } = random(seed)
      const expected = new Set<string>()
      const taken: string[] = []
      let at = now
      const take = async () => {
        if (below(2) === 0) {
          const claims = await old.claim({ ...oldClaim, limit: below(6), cap: below(4), now: at })
          taken.push(...claims.map(({ id }) => id))
          await old.complete(claims)
          return
        }
        const claims = await queue.claim(claimOptions({ limit: 1 + below(6), cap: 1 + below(3), now: at }))
        taken.push(...claims.map(({ id }) => id))
        await queue.complete(claims)
      }
      for (let n = 0; n < 300; n++) {
        at += below(50)
        const jobs: Job[] = Array.from({ length: below(4) }, (_, i) => {
          const group = below(8)
          return { ...job(`${n}.${i}`, group, at + below(200) - 100), workspace: `w${group % 4}` }
        })
        for (const { id } of jobs) expected.add(id)
        await Promise.all([below(2) === 0 ? old.add(jobs) : queue.add(jobs), take(), take()])
        if (below(10) === 0) {
          const pause = [{ group: `g${below(8)}`, until: at + below(300) }]
          await (below(2) === 0 ? old.pause(pause) : queue.pause(pause))
        }
      }
      // The processes of the version before are gone.
      for (let n = 0; n < 3; n++) {
        at += 60_000
        for (let claims; (claims = await queue.claim(claimOptions({ now: at }))).length > 0;) {
          taken.push(...claims.map(({ id }) => id))
          await queue.complete(claims)
        }
      }
      expect(taken.toSorted()).toEqual([...expected].toSorted())
      expect(await queue.stats(at)).toEqual({ size: 0, oldestDueAt: null })
      await drop()
    }
  })

  test(
    'its processes work on while the schema is migrated, whatever transactions of hosts are open',
    { timeout: 60_000 },
    async () => {
      const { schema, old, drop } = await before()
      let added = 0
      let taken = 0
      let slowest = 0
      const stop = new AbortController()
      const timed = async (work: Promise<unknown>) => {
        const startedAt = performance.now()
        await work
        slowest = Math.max(slowest, performance.now() - startedAt)
      }
      const works = Array.from({ length: 4 }, async (_, worker) => {
        while (!stop.signal.aborted) {
          await timed(old.add([job(`${worker}.${added++}`, worker, 1)]))
          const claims = await old.claim({ ...oldClaim, limit: 5, leaseMs: 60_000 })
          taken += claims.length
          await old.complete(claims)
        }
      })
      const host = await pool.connect()
      await host.query('begin')
      await host.query(`insert into ${schema}.hints values ('g0', 1)`)
      const migrated = migrate(pool, { schema })
      await new Promise((resolve) => setTimeout(resolve, 2500))
      await host.query('commit')
      host.release()
      await migrated
      stop.abort()
      await Promise.all(works)
      const rest = await open(schema).claim(claimOptions({ limit: 1000, free: 4000, cap: 1000, now }))
      expect(taken + rest.length).toBe(added)
      expect(slowest).toBeLessThan(3000)
      await drop()
    },
  )
})
