import { expect, test } from 'vitest'

import { neighbours } from '../../src/core/cursor.ts'

const between = { first: 'b', last: 'c', preceded: true, followed: true }

test('next goes on after the last row, prev ends before the first', () => {
  expect(neighbours('/x', [['limit', '2']], between)).toEqual({
    next: '/x?after=c&limit=2',
    prev: '/x?before=b&limit=2',
  })
})

test('the cursors of the page itself are replaced, other parameters kept, sorted and form-encoded', () => {
  const parameters = [
    ['name', 'a b&c'],
    ['after', 'x'],
    ['before', 'y'],
    ['created_at[gt]', '1'],
    ['name', 'é'],
  ] as const
  expect(neighbours('/x', parameters, between).next).toBe('/x?after=c&created_at%5Bgt%5D=1&name=a+b%26c&name=%C3%A9')
})

test('there is none where no rows are, and none beside an empty page', () => {
  expect(neighbours('/x', [], { ...between, preceded: false }).prev).toBeNull()
  expect(neighbours('/x', [], { ...between, followed: false }).next).toBeNull()
  const empty = { first: undefined, last: undefined, preceded: true, followed: true }
  expect(neighbours('/x', [], empty)).toEqual({ next: null, prev: null })
})
