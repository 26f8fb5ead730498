import { escapeLiteral, Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import type { PostgresClient, Row } from '../../adapters/postgres/clients.ts'
import { postgres } from '../../adapters/postgres/index.ts'
import type { Value } from '../../adapters/postgres/sql.ts'
import { attempt, entry, event, made, settlement, start } from '../../src/testing/storage/rows.ts'
import { filled, operations, plansOf } from '../faults/plans.ts'
import { claimOptions } from '../support/claim-options.ts'
import { schemasOf } from '../support/postgres.ts'

const url = inject('postgresUrl')

/** The same at a million: `npm run faults -- plans`. */
describe.skipIf(url === null)('what PostgreSQL reads at twenty thousand attempts', () => {
  let pool: Pool
  let schemas: ReturnType<typeof schemasOf>
  let schema: string
  let revision: number
  beforeAll(async () => {
    pool = new Pool({ connectionString: url!, max: 5 }) // skipped where it is null
    schemas = schemasOf(pool)
    schema = (await schemas.open({ listen: false })).schema
    revision = await filled(pool, schema, 20_000)
  }, 60_000)
  afterAll(async () => {
    await schemas.drop()
    await pool.end()
  })

  test.each(operations)('$name reads by index, and not much more than it answers', async (operation) => {
    const plans = await plansOf(pool, schema, operation, revision)
    expect(plans.length).toBeGreaterThan(0)
    for (const { whole, mostRows, text } of plans) {
      expect(whole, text).toEqual([])
      expect(mostRows, text).toBeLessThan(3000)
    }
  })
})

interface Prepared {
  readonly name: string
  readonly text: string
  readonly values: readonly Value[]
}

/** A client that remembers what it ran prepared, with the values of the last time. */
function remembering(connection: Pool): { client: PostgresClient; prepared: Map<string, Prepared> } {
  const prepared = new Map<string, Prepared>()
  return {
    prepared,
    client: {
      async query(text, values, { name } = {}) {
        if (name !== undefined) prepared.set(name, { name, text, values })
        return await connection.query<Row>({ text, values, ...(name !== undefined && { name }) })
      },
    },
  }
}

function literal(value: Value): string {
  if (value === null || typeof value === 'number') return String(value)
  return typeof value === 'string' ? escapeLiteral(value) : `array[${value.map(escapeLiteral).join(', ')}]::text[]`
}

test.skipIf(url === null)(
  'a statement prepared when there was little soon reads by index what came since',
  async () => {
    const connection = new Pool({ connectionString: url!, max: 1 }) // skipped where it is null
    const pool = new Pool({ connectionString: url!, max: 2 })
    const schemas = schemasOf(pool)
    try {
      const { schema } = await schemas.open({ listen: false })
      const { client, prepared } = remembering(connection)
      const storage = postgres(client, { schema })
      const revision = await made(storage, 'w')
      const ingest = (ids: readonly string[]) =>
        storage.events.ingest(
          ids.map((id) => entry('w', revision, event(id), [attempt(`a${id}`, id)])),
          { enqueue: true },
        )
      const deliver = async () => {
        const claims = await storage.queue.claim(claimOptions({ limit: 2, cap: 16, now: start }))
        const deliveries = await storage.attempts.load(claims.map(({ id }) => id))
        expect(deliveries).toHaveLength(2)
        await storage.attempts.settle(
          deliveries.map((delivery, i) => settlement('w', delivery.attempt, { claim: claims[i]! })),
          { enqueue: true },
        )
      }
      // After the fifth time a plan is kept.
      for (let n = 0; n < 10; n++) {
        await ingest([`${n}x`, `${n}y`])
        await deliver()
      }
      for (let n = 0; n < 10; n++) await ingest(Array.from({ length: 500 }, (_, i) => `many${n}.${i}`))

      const readWhole = async (): Promise<string[]> => {
        await deliver()
        const wholes: string[] = []
        for (const { name, text, values } of prepared.values()) {
          if (!/attempts|jobs/.test(text)) continue
          const { rows } = await connection.query<{ 'QUERY PLAN': string }>(
            `explain execute "${name}" (${values.map(literal).join(', ')})`,
          )
          const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
          wholes.push(
            ...[...plan.matchAll(/Seq Scan on (attempts|open_attempts|jobs|events)\b/g)].map((found) => found[1]!),
          )
        }
        return wholes
      }
      await expect.poll(readWhole, { timeout: 10_000 }).toEqual([])
    } finally {
      await connection.end()
      await schemas.drop()
      await pool.end()
    }
  },
)

test.skipIf(url === null)(
  'the room of hints that were worked in is freed by the upkeep of who works them in',
  async () => {
    const pool = new Pool({ connectionString: url!, max: 2 }) // skipped where it is null
    const schemas = schemasOf(pool)
    try {
      const { schema } = await schemas.open({ listen: false })
      const sent: string[] = []
      const query = (text: string, values: unknown[]) => {
        sent.push(text)
        return pool.query<Row>(text, values)
      }
      const { queue } = postgres({ query }, { schema, listen: false })
      // Autovacuum, which may come first, stays away.
      await pool.query(`alter table ${schema}.hints set (autovacuum_enabled = off)`)
      await pool.query(`insert into ${schema}.hints select 'g' || i % 500, 1 from generate_series(1, 9000) i`)
      for (let n = 0; n < 3; n++) {
        const jobs = Array.from({ length: 500 }, (_, i) => ({
          id: `${n}.${i}`,
          workspace: 'w',
          group: `g${i}`,
          due_at: 1,
        }))
        await queue.add(jobs)
        expect(await queue.claim(claimOptions({ limit: 500, free: 1000, now: start }))).toHaveLength(500)
      }
      const { rows } = await pool.query(`select from ${schema}.hints`)
      expect(rows, 'hints that are left').toHaveLength(0)
      await expect.poll(() => sent.some((text) => /^vacuum .*hints$/.test(text.trim())), { timeout: 10_000 }).toBe(true)
    } finally {
      await schemas.drop()
      await pool.end()
    }
  },
)
