import { expect, test } from 'vitest'

import { joined, nothing, raw, sql, textOf, type Value } from '../../adapters/sql/sql.ts'

const find = (id: string, more = nothing) => sql`select * from t where id = ${id}::text${more}`
const limited = (count: number) => sql` limit ${count}::int`

test('values are never part of the text, and are numbered in their order', () => {
  const statement = sql`${find('a', limited(3))} union ${joined([find('b'), raw(' order by id'), limited(4)])}`
  expect(textOf(statement)).toBe(
    'select * from t where id = $1::text limit $2::int union select * from t where id = $3::text order by id limit $4::int',
  )
  expect(statement.values).toEqual(['a', 3, 'b', 4])
})

test('statements that are written alike share a shape, whatever their values; others do not', () => {
  expect(find('b').shape).toBe(find('a').shape)
  expect(find('a', limited(1)).shape).toBe(find('b', limited(2)).shape)
  expect(find('a', limited(1)).shape).not.toBe(find('a').shape)
  expect(joined([find('a'), limited(1)]).shape).toBe(joined([find('b'), limited(2)]).shape)
  expect(textOf(joined([limited(1), find('a')]))).not.toBe(textOf(joined([find('a'), limited(1)])))
  const list = (value: Value) => sql`select ${value}`
  expect(list(['a', 'b']).shape).toBe(list(null).shape)
})

test('texts stay right when there were more shapes than are remembered', () => {
  const before = find('a')
  for (let n = 0; n < 50_000; n++) expect(textOf(sql`select ${raw(`c${n}`)} ${n}`)).toBe(`select c${n} $1`)
  expect(textOf(before)).toBe(textOf(find('b')))
  expect(find('a').shape).toBe(find('b').shape)
})
