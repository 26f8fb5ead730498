import { describe, expect, test } from 'vitest'

import { nodePlatform } from '../../adapters/node/platform.ts'
import { loadUndici } from '../../adapters/node/undici-connections.ts'
import type { HashName } from '../../src/contracts/platform.ts'
import { portablePlatform } from '../../src/portable.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const hex = (data: Uint8Array): string => Buffer.from(data).toString('hex')

describe.each([
  ['node', nodePlatform],
  ['portable', portablePlatform],
])('the %s platform', (_name, platform) => {
  // RFC 2202 and RFC 4231, test case 2.
  test.each<[HashName, string]>([
    ['md5', '750c783e6ab0b503eaa86e310a5db738'],
    ['sha-1', 'effcdf6ae5eb2fa2d27416d5f184df9c259a7c79'],
    ['sha-256', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
    [
      'sha-512',
      '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
    ],
  ])('makes the HMAC of %s', async (hash, expected) => {
    expect(hex(await platform.hmac(hash, bytes('Jefe'), bytes('what do ya want for nothing?')))).toBe(expected)
  })

  test('makes the HMAC of an empty key and of nothing', async () => {
    expect(hex(await platform.hmac('sha-256', new Uint8Array(), new Uint8Array()))).toBe(
      'b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad',
    )
  })

  test('goes by the bytes of a key, not by the array that holds them', async () => {
    const key = bytes('one')
    const before = hex(await platform.hmac('sha-256', key, bytes('x')))
    key.set(bytes('two'))
    const after = hex(await platform.hmac('sha-256', key, bytes('x')))
    expect(after).not.toBe(before)
    expect(hex(await platform.hmac('sha-256', bytes('two'), bytes('x')))).toBe(after)
  })

  test('makes random bytes', () => {
    expect(platform.randomBytes(32)).toHaveLength(32)
    expect(hex(platform.randomBytes(32))).not.toBe(hex(platform.randomBytes(32)))
  })
})

test('sending leaves the fetch of the host alone', async () => {
  const dispatchers = () => [1, 2].map((n) => Symbol.for(`undici.globalDispatcher.${n}`) in globalThis)
  const before = dispatchers()
  expect(await loadUndici()).not.toBeNull()
  expect(dispatchers()).toEqual(before)
})

test('the vitals of this process are true numbers', async () => {
  await nodePlatform.http({ deny: [], allow: [] }).close?.()
  const vitals = nodePlatform.vitals()
  expect(vitals.version).toMatch(/^(node v|deno |bun )\d+\.\d+/)
  expect(vitals.heapUsed).toBeGreaterThan(1_000_000)
  expect(vitals.heapTotal).toBeGreaterThanOrEqual(vitals.heapUsed)
  expect(vitals.residentSet).toBeGreaterThan(vitals.heapUsed / 2)
  expect(vitals.handles).toBeGreaterThanOrEqual(0)
})
