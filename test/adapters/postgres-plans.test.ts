import { escapeLiteral, Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import type { PostgresClient, Row } from '../../adapters/postgres/clients.ts'
import { postgres } from '../../adapters/postgres/index.ts'
import type { Value } from '../../adapters/postgres/sql.ts'
import { attempt, entry, event, made, settlement, start } from '../../src/testing/storage/rows.ts'
import { filled, operations, plansOf } from '../faults/plans.ts'
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
        const claims = await storage.queue.claim({ limit: 2, cap: 16, busy: {}, leaseMs: 1000, now: start })
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

test.skipIf(url === null)('hints that were worked in leave no pages behind for the next claims to read', async () => {
  const pool = new Pool({ connectionString: url!, max: 2 }) // skipped where it is null
  const schemas = schemasOf(pool)
  try {
    const { schema, subject } = await schemas.open({ listen: false })
    const { queue } = subject
    for (let n = 0; n < 20; n++) {
      await queue.add(Array.from({ length: 500 }, (_, i) => ({ id: `${n}.${i}`, group: `g${i}`, due_at: start })))
      const claims = await queue.claim({ limit: 500, cap: 1000, busy: {}, leaseMs: 1000, now: start })
      expect(claims).toHaveLength(500)
    }
    const pages = async (): Promise<number> => {
      await queue.add(Array.from({ length: 500 }, (_, i) => ({ id: `x${i}`, group: `g${i}`, due_at: start })))
      await queue.claim({ limit: 500, cap: 1000, busy: {}, leaseMs: 1000, now: start })
      const { rows } = await pool.query<{ bytes: string }>('select pg_relation_size($1::regclass) as bytes', [
        `"${schema}".hints`,
      ])
      return Number(rows[0]!.bytes) / 8192
    }
    await expect.poll(pages, { timeout: 10_000 }).toBeLessThan(24)
  } finally {
    await schemas.drop()
    await pool.end()
  }
})
