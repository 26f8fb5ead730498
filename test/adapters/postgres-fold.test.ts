import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { made } from '../../src/testing/storage/rows.ts'
import { schemasOf } from '../support/postgres.ts'

const url = inject('postgresUrl')

describe.skipIf(url === null)('a step of a fold on PostgreSQL', () => {
  let pool: Pool
  let schemas: ReturnType<typeof schemasOf>
  beforeAll(() => {
    pool = new Pool({ connectionString: url!, max: 2 }) // skipped where it is null
    schemas = schemasOf(pool)
  })
  afterAll(async () => {
    await schemas.drop()
    await pool.end()
  })

  /** A workspace with one row of notes for each number, which says of how many settlements. */
  async function noted(sizes: readonly number[]) {
    const { subject, schema, close } = await schemas.open({ listen: false })
    await made(subject, 'w')
    const { rows } = await pool.query<{ key: string }>(`select key from ${schema}.workspaces`)
    const note = JSON.stringify([Number(rows[0]!.key), 'endpoint', 'x', 60_000, 0])
    const texts = sizes.map((size) => Array.from({ length: size }, () => note).join(','))
    await pool.query(`insert into ${schema}.notes (noted) select unnest($1::text[])`, [texts])
    const sums = async () => {
      const { rows: found } = await pool.query<{ sum: string }>(
        `select sum(succeeded) as sum from ${schema}.minute_sums`,
      )
      return Number(found[0]!.sum)
    }
    return { fold: () => subject.statistics.fold(), sums, close }
  }

  test('takes many rows of few notes', async () => {
    const { fold, sums, close } = await noted(Array.from({ length: 300 }, () => 2))
    expect(await fold()).toBe(500)
    expect(await fold()).toBe(100)
    expect(await fold()).toBe(0)
    expect(await sums()).toBe(600)
    await close()
  })

  test('takes few rows of many notes, and one that is larger than all may be', async () => {
    const { fold, sums, close } = await noted([20_000, 20_000, 40_000, 1])
    expect(await fold()).toBe(40_000)
    expect(await fold()).toBe(40_000)
    expect(await fold()).toBe(1)
    expect(await sums()).toBe(80_001)
    await close()
  })
})
