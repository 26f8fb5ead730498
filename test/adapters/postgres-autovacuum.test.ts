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

test.each([
  ['fails', async () => Promise.reject(new Error('it did not answer in time'))],
  ['takes half a second', async () => await sleep(520)],
])('when a claim %s, sizes are told at once, and claims are planned anew for a minute', async (_, once) => {
  const claims: boolean[] = []
  let looks = 0
  const query: PostgresClient['query'] = async (text, _values, options) => {
    if (text.includes('pg_relation_size')) looks++
    if (!text.includes('hint as materialized')) return { rows: [] }
    claims.push(options?.name !== undefined)
    if (claims.length === 1) await once()
    return { rows: [{ job: null, planned: 0, met: 0, until: null }] }
  }
  const { queue } = postgres({ query }, { listen: false })
  for (const now of [start, start + 1, start + 59_999, start + 60_000]) {
    await queue.claim(claimOptions({ now })).catch(() => {})
  }
  expect(claims, 'which are prepared').toEqual([true, false, false, true])
  expect(looks).toBe(1)
})
