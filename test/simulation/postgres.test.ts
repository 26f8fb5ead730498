import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Row } from '../../adapters/sql/values.ts'
import type { PostgresClient } from '../../adapters/postgres/clients.ts'
import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { simulate } from '../../src/testing/simulation/simulate.ts'
import { emptying, freshSchema, truncating } from '../support/postgres.ts'
import { type Standstill, standstill } from '../support/standstill.ts'

const url = inject('postgresUrl')
const seeds = Array.from({ length: 20 }, (_, seed) => seed)

const asker = `async (connectionString) => {
  const client = new (require('pg').Client)({ connectionString })
  await client.connect()
  return async ([name, text, values]) => ({ rows: (await client.query({ name, text, values })).rows })
}`

describe.skipIf(url === null)('simulations on PostgreSQL', { timeout: 120_000 }, () => {
  const schema = freshSchema()
  let pool: Pool
  let still: Standstill
  beforeAll(async () => {
    pool = new Pool({ connectionString: url!, max: 1 }) // skipped where it is null
    await migrate(pool, { schema })
    still = standstill(url!, asker)
  })
  afterAll(async () => {
    await still.close()
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })

  const client: PostgresClient = {
    query: async (text, values, { name } = {}) => still.ask([name, text, values]) as { rows: Row[] },
  }
  const emptied = (statement: string) => () => {
    still.ask([undefined, statement, []])
    return postgres(client, { schema })
  }
  const fresh = emptied(emptying(schema))

  test(`${seeds.length} runs on PostgreSQL alone lose nothing and double nothing`, async () => {
    for (const seed of seeds) {
      await expect(simulate({ seed, storage: fresh })).resolves.toMatchObject({ accepted: expect.any(Number) })
    }
  })

  test('nor do 10 with the queue of another engine beside it', async () => {
    for (const seed of seeds.slice(0, 10)) {
      const run = simulate({ seed, storage: fresh, queue: () => memory().queue })
      await expect(run).resolves.toMatchObject({ accepted: expect.any(Number) })
    }
  })

  test('the same seed gives the same run', async () => {
    // Long work of the adapter goes in slices of real time.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
    onTestFinished(() => clock.mockRestore())
    for (const seed of [1, 2, 20]) {
      const run = { seed, storage: emptied(truncating(schema)) }
      expect(await simulate(run)).toEqual(await simulate(run))
    }
  })
})
