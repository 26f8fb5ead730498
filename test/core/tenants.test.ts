import { expect, test } from 'vitest'

import { tenantShares } from '../../src/core/tenants.ts'

const of = (workspace: string, owner: string) => ({ workspace, owner })

/** How many units a source gets, one after the other. */
function taken(shares: ReturnType<typeof tenantShares>, workspace: string, owner: string): number {
  let units = 0
  while (units < 10_000 && shares.take(of(workspace, owner), 1)) units++
  return units
}

test('a workspace alone gets up to three quarters, and whoever comes new finds room', () => {
  const shares = tenantShares(1000)
  const first = taken(shares, 'a', 's') + taken(shares, 'a', 't') + taken(shares, 'a', 'u')
  expect(first).toBeGreaterThan(700)
  expect(first).toBeLessThanOrEqual(751)
  expect(taken(shares, 'b', 's')).toBeGreaterThan(150)
  expect(taken(shares, 'c', 's')).toBeGreaterThan(20)
})

test('a hundred sources of a workspace get no more than one would, nearly', () => {
  const shares = tenantShares(1000)
  let all = 0
  for (let i = 0; i < 100; i++) all += taken(shares, 'a', `s${i}`)
  expect(all).toBeLessThanOrEqual(751)
})

test('a source leaves room for others of its workspace', () => {
  const shares = tenantShares(1000)
  const greedy = taken(shares, 'a', 's')
  expect(greedy).toBeGreaterThan(600)
  expect(shares.take(of('a', 't'), 1)).toBe(true)
})

test('many units at once are judged as one after the other', () => {
  const one = tenantShares(1000)
  const units = taken(one, 'a', 's')
  expect(tenantShares(1000).take(of('a', 's'), units)).toBe(true)
  expect(tenantShares(1000).take(of('a', 's'), units + 1)).toBe(false)
})

test('what is given back is free again', () => {
  const shares = tenantShares(1)
  expect(shares.take(of('a', 's'), 1)).toBe(true)
  expect(shares.take(of('b', 's'), 1)).toBe(false)
  shares.give(of('a', 's'), 1)
  expect(shares.take(of('b', 's'), 1)).toBe(true)
})
