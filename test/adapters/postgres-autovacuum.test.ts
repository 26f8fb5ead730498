import { setTimeout as sleep } from 'node:timers/promises'

import { expect, test, vi } from 'vitest'

import { autovacuum } from '../../adapters/postgres/autovacuum.ts'
import type { PostgresClient } from '../../adapters/postgres/clients.ts'
import type { Row } from '../../adapters/sql/values.ts'
import { postgres } from '../../adapters/postgres/index.ts'
import { textOf } from '../../adapters/sql/sql.ts'
import { tables } from '../../adapters/postgres/tables.ts'
import { start } from '../../src/testing/storage/rows.ts'
import { claimOptions } from '../support/claim-options.ts'

test('tables that grow are analyzed while a vacuum of the hints waits', async () => {
  const asked = { analyze: 0, vacuum: 0 }
  const ask = async (statement: Parameters<typeof textOf>[0]): Promise<readonly Row[]> => {
    const text = textOf(statement)
    if (text.includes('pg_relation_size')) return [{ name: 'hints' }, { name: 'jobs' }]
    if (text.startsWith('analyze')) asked.analyze++
    if (!text.startsWith('vacuum')) return [{}]
    asked.vacuum++
    return await new Promise(() => {})
  }
  const passed = autovacuum({ ask, schema: 's', t: tables('s') })
  for (const looks of [1, 2, 3]) {
    passed(1000)
    await vi.waitFor(() => expect(asked).toEqual({ analyze: looks, vacuum: 1 }))
  }
})

const slow = async () => await sleep(520)
const quick = async () => {}

/** Which of so many claims are prepared, where claims take as long as told; and how often sizes were told. */
async function claimed(times: readonly number[], prepared: () => Promise<unknown>, anew: () => Promise<unknown>) {
  const claims: ('prepared' | 'anew')[] = []
  let looks = 0
  const query: PostgresClient['query'] = async (text, _values, options) => {
    if (text.includes('pg_relation_size')) looks++
    if (!text.includes('hint as materialized')) return { rows: [] }
    claims.push(options?.name === undefined ? 'anew' : 'prepared')
    await (options?.name === undefined ? anew() : prepared())
    return { rows: [{ job: null, planned: 0, met: 0, until: null }] }
  }
  const { queue } = postgres({ query }, { listen: false })
  for (const now of times) await queue.claim(claimOptions({ now: start + now })).catch(() => {})
  return { claims, looks }
}

test.each([
  ['was given up', async () => Promise.reject(new Error('it did not answer in time'))],
  ['took half a second', slow],
])('after a claim that %s sizes are told at once, and a claim is planned anew', async (_, first) => {
  let count = 0
  const { claims, looks } = await claimed([0, 1, 2, 3], async () => await (count++ === 0 ? first() : quick()), quick)
  expect(claims).toEqual(['prepared', 'anew', 'prepared', 'prepared'])
  expect(looks).toBe(1)
})

test('where only what is prepared is slow, claims are planned anew for a minute, and then one is prepared', async () => {
  const { claims } = await claimed([0, 1, 2, 3, 60_001, 60_002, 60_003], slow, quick)
  expect(claims).toEqual(['prepared', 'anew', 'prepared', 'anew', 'anew', 'prepared', 'anew'])
})

test('where all claims are slow, one a minute is planned anew', async () => {
  const { claims, looks } = await claimed([0, 1, 2, 60_000, 60_001, 60_002], slow, slow)
  expect(claims).toEqual(['prepared', 'anew', 'prepared', 'prepared', 'prepared', 'anew'])
  expect(looks).toBe(6)
})
