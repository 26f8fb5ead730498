import { expect, test } from 'vitest'

import { pageLinks } from '../../src/http/page-links.ts'

const between = { next: 'c', prev: 'b' }

test('next goes on after the last row, prev ends before the first', () => {
  expect(pageLinks('/x', [['limit', '2']], between)).toEqual({
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
  expect(pageLinks('/x', parameters, between).next).toBe('/x?after=c&created_at%5Bgt%5D=1&name=a+b%26c&name=%C3%A9')
})

test('there is no address where there is no cursor', () => {
  expect(pageLinks('/x', [], { next: null, prev: null })).toEqual({ next: null, prev: null })
})
