import { expect, test } from 'vitest'

import { LostLeases } from '../../src/core/lost-leases.ts'

const tokens = (lost: LostLeases, now: number) => lost.due(now).map(({ token }) => token)

test('a lost lease is asked for at once, and then at intervals until the lease ends', () => {
  const lost = new LostLeases(500)
  expect(tokens(lost, 0)).toEqual([])
  lost.add({ token: 'a', until: 2000 })
  expect([tokens(lost, 10), tokens(lost, 400), tokens(lost, 510), tokens(lost, 1999)]).toEqual([
    ['a'],
    [],
    ['a'],
    ['a'],
  ])
  expect([tokens(lost, 2500), tokens(lost, 3000)]).toEqual([[], []])
})

test('another lost lease does not wait for the interval', () => {
  const lost = new LostLeases(500)
  lost.add({ token: 'a', until: 2000 })
  expect(tokens(lost, 0)).toEqual(['a'])
  lost.add({ token: 'b', until: 3000 })
  expect(lost.due(1)).toEqual([
    { token: 'a', until: 2000 },
    { token: 'b', until: 3000 },
  ])
})

test('a clock that was set back asks again', () => {
  const lost = new LostLeases(500)
  lost.add({ token: 'a', until: 100_000 })
  expect([tokens(lost, 50_000), tokens(lost, 10_000)]).toEqual([['a'], ['a']])
})
