import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

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
