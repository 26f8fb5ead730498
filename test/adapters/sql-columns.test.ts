import { Pool } from 'pg'
import postgresJs from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { type Columns, rowsOf } from '../../adapters/sql/columns.ts'
import { textOf } from '../../adapters/sql/sql.ts'

const url = inject('postgresUrl')

interface Item {
  readonly id: string
  readonly text: string | null
  readonly count?: number
  readonly flag?: boolean
}

const columns: Columns<Item> = {
  text: ['text', ({ text }) => text],
  count: ['bigint', ({ count }) => count],
  flag: ['boolean', ({ flag }) => flag],
  place: ['int', (_, index) => index],
}

const oddTexts = [
  '',
  'NULL',
  '"',
  '\\',
  '\\"',
  '{a,b}',
  'a\nb\tc',
  ' blank ',
  'größe 😀',
  '\x1f',
  'a\x1fb',
  "it's",
  '$1',
]

describe.skipIf(url === null)('items as rows of PostgreSQL', () => {
  let pool: Pool
  let other: ReturnType<typeof postgresJs>
  beforeAll(() => {
    pool = new Pool({ connectionString: url!, max: 2 }) // skipped where it is null
    other = postgresJs(url!, { max: 2 })
  })
  afterAll(() => Promise.all([pool.end(), other.end()]))

  async function rows(items: readonly Item[]): Promise<unknown[]> {
    const query = rowsOf(items, ({ id }) => id, columns)
    const { rows: answer } = await pool.query(textOf(query), [...query.values])
    const same = await other.unsafe(textOf(query), [...query.values] as never[])
    expect([...same]).toEqual(answer) // whatever the driver
    return answer
  }
  const row = (item: Item, place: number) => ({
    id: item.id,
    text: item.text,
    count: item.count === undefined ? null : String(item.count),
    flag: item.flag ?? null,
    place,
  })

  test('each text is read as it was given, beside nulls and beside other texts', async () => {
    const alone = oddTexts.map((text, i) => ({ id: `a${i}`, text }))
    for (const item of alone) expect(await rows([item])).toEqual([row(item, 0)])
    expect(await rows(alone)).toEqual(alone.map(row))
    const mixed = alone.flatMap((item, i) => [item, { id: `n${i}`, text: null }])
    expect(await rows(mixed)).toEqual(mixed.map(row))
  })

  test('plain texts, and a column of nulls', async () => {
    const items = Array.from({ length: 600 }, (_, i) => ({ id: `e${i}`, text: `{"n":"${i}"}` }))
    expect(await rows(items)).toEqual(items.map(row))
  })

  test('a column ends with its last value, and no row is lost', async () => {
    const items = [
      { id: 'x', text: null, count: 2 ** 53 - 1, flag: true },
      { id: 'y', text: 'last', flag: false },
      { id: 'z', text: null },
    ]
    expect(await rows(items)).toEqual(items.map(row))
    for (const item of items) expect(await rows([item])).toEqual([row(item, 0)])
  })

  test('no items are no rows', async () => {
    expect(await rows([])).toEqual([])
  })
})
