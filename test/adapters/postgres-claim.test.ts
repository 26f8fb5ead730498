import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Row } from '../../adapters/sql/values.ts'
import type { PostgresClient } from '../../adapters/postgres/clients.ts'
import { postgres } from '../../adapters/postgres/index.ts'
import type { Queue } from '../../src/contracts/queue.ts'
import { runQueueEquivalence } from '../../src/testing/queue-equivalence.ts'
import { random } from '../../src/testing/random.ts'
import { claimOptions } from '../support/claim-options.ts'
import { schemasOf } from '../support/postgres.ts'

const url = inject('postgresUrl')

/** The queue as others see it who name workspaces otherwise. */
function renamed(queue: Queue, name: (workspace: string) => string): Queue {
  return {
    ...queue,
    add: (jobs) =>
      queue.add(
        jobs.map(({ lease, ...job }) => {
          const workspace = name(job.workspace)
          const token = lease?.token.replace(/[^/]+$/, workspace)
          return { ...job, workspace, ...(lease !== undefined && { lease: { ...lease, token: token! } }) }
        }),
      ),
    claim(options) {
      const workspaces = new Map([...options.busy.workspaces].map(([workspace, slots]) => [name(workspace), slots]))
      return queue.claim({ ...options, busy: { ...options.busy, workspaces } })
    },
  }
}

describe.skipIf(url === null)('claims of PostgreSQL', { timeout: 60_000 }, () => {
  let pool: Pool
  let schemas: ReturnType<typeof schemasOf>
  beforeAll(() => {
    pool = new Pool({ connectionString: url!, max: 20 }) // skipped where it is null
    schemas = schemasOf(pool)
  })
  afterAll(async () => {
    await schemas.drop()
    await pool.end()
  })

  test.each([
    ['one workspace that is alone', () => 'w'],
    ['one workspace that is mostly alone', (name: string) => (name === 'w3' ? 'v' : 'w')],
  ])('of %s are those of memory', async (_, name) => {
    for (const seed of [1, 2, 3]) {
      const { subject, close } = await schemas.open({ listen: false })
      const left = renamed(memory().queue, name)
      const run = runQueueEquivalence({ seed, operations: 400, left, right: renamed(subject.queue, name) })
      await expect(run).resolves.toBeUndefined()
      await close()
    }
  })

  test('a deep backlog beside many small ones is taken in two statements', async () => {
    const { schema, close } = await schemas.open({ listen: false })
    let claims = 0
    const client: PostgresClient = {
      query(text, values) {
        if (text.includes('worked_in')) claims++
        return pool.query<Row>(text, values)
      },
    }
    const { queue } = postgres(client, { schema, listen: false })
    const job = (workspace: string, n: number) => ({
      id: `${workspace}.${n}`,
      workspace,
      group: `g${workspace}`,
      due_at: n,
    })
    await queue.add(Array.from({ length: 90 }, (_, i) => job(`w${i}`, 1)))
    await queue.add(Array.from({ length: 300 }, (_, i) => job('deep', i)))
    // The first claim learns that there are many.
    await queue.release(await queue.claim(claimOptions({ now: 1000 })))
    claims = 0
    const taken = await queue.claim(claimOptions({ limit: 200, free: 1000, cap: 500, now: 1000 }))
    expect(taken.filter(({ workspace }) => workspace === 'deep')).toHaveLength(110)
    expect(claims).toBe(2)
    await close()
  })

  test('slots in use are parsed once for a claim, however many jobs it looks at', async () => {
    const { schema, close } = await schemas.open({ listen: false })
    const texts: string[] = []
    const client: PostgresClient = {
      query(text, values) {
        if (text.includes('worked_in')) texts.push(text)
        return pool.query<Row>(text, values)
      },
    }
    const { queue } = postgres(client, { schema, listen: false })
    await queue.add(Array.from({ length: 40 }, (_, n) => ({ id: `${n}`, workspace: 'w', group: `g${n}`, due_at: 1 })))
    const slots = new Map(Array.from({ length: 20 }, (_, n) => [`g${n}`, 1]))
    // The last claims expect one workspace alone.
    for (let n = 0; n < 8; n++) {
      const busy = { workspaces: new Map([['w', 20]]), groups: slots, low: slots }
      const claims = await queue.claim(claimOptions({ limit: 40, cap: 2, busy, now: 1000 }))
      expect(claims).toHaveLength(40)
      await queue.release(claims)
    }
    expect(texts.some((text) => text.includes('most as materialized'))).toBe(true)
    for (const text of texts) {
      const parsed = text.match(/\$\d+::text::jsonb/g) ?? []
      const once =
        text.match(/as materialized \(\s*select \$\d+::text::jsonb as \w+(, \$\d+::text::jsonb as \w+)*/g) ?? []
      expect(parsed.length).toBeGreaterThan(1)
      expect(once.join().match(/::jsonb/g)).toHaveLength(parsed.length)
    }
    await close()
  })

  test('eight processes that add, claim, pause and give back at once never lock each other out', async () => {
    const { schema, close } = await schemas.open({ listen: false })
    const failures: unknown[] = []
    const expected: string[] = []
    const done: string[] = []
    await Promise.all(
      Array.from({ length: 8 }, async (_, process) => {
        const client: PostgresClient = {
          query: (text, values) =>
            pool.query<Row>(text, values).catch((error: unknown) => {
              failures.push(error)
              throw error
            }),
        }
        const { queue } = postgres(client, { schema, listen: false })
        const { below } = random(process)
        for (let n = 0; n < 60; n++) {
          const jobs = Array.from({ length: below(20) }, (_, i) => {
            const group = below(30)
            return { id: `${process}.${n}.${i}`, workspace: `w${group % 10}`, group: `g${group}`, due_at: below(1000) }
          })
          expected.push(...jobs.map(({ id }) => id))
          await queue.add(jobs)
          const claims = await queue.claim(
            claimOptions({ limit: 1 + below(30), cap: 1 + below(5), now: 1000, leaseMs: 60_000 }),
          )
          const kept = claims.filter(() => below(5) > 0)
          await queue.release(claims.filter((claim) => !kept.includes(claim)))
          await queue.complete(kept)
          done.push(...kept.map(({ id }) => id))
          if (below(5) === 0) await queue.pause([{ group: `g${below(30)}`, until: 1000 + below(2) }])
        }
      }),
    )
    const { queue } = postgres(pool, { schema, listen: false })
    for (let claims; (claims = await queue.claim(claimOptions({ limit: 500, free: 9000, now: 2000 }))).length > 0;) {
      await queue.complete(claims)
      done.push(...claims.map(({ id }) => id))
    }
    expect(failures).toEqual([])
    expect(done.toSorted()).toEqual(expected.toSorted())
    await close()
  })
})
