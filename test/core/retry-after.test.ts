import { expect, test } from 'vitest'

import { retryAfter } from '../../src/core/retry-after.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const day = 86_400_000

test.each([
  ['120', 120_000],
  [' 120 ', 120_000],
  ['007', 7000],
  ['86400', day],
  ['86401', day],
  ['9'.repeat(400), day],
  ['Thu, 01 Jan 2026 00:10:00 GMT', 600_000],
  ['Thursday, 01-Jan-26 00:10:00 GMT', 600_000],
  ['Thu Jan  1 00:10:00 2026', 600_000],
  ['Fri, 01 Jan 2027 00:00:00 GMT', day],
])('Retry-After: %s is in %i ms', (value, ms) => {
  expect(retryAfter(value, now)).toBe(now + ms)
})

test.each([
  undefined,
  '',
  '0',
  '-5',
  '+5',
  '1.5',
  '1e3',
  '0x10',
  '5s',
  '60, 120',
  'soon',
  '2026-01-01T00:10:00Z',
  'Thu, 01 Jan 2026 00:10:00',
  'Thu, 01 Jan 2026 00:10:00 CET',
  'Thu, 01 Foo 2026 00:10:00 GMT',
  'Thu, 01 Jan 2026 00:00:00 GMT',
  'Wed, 31 Dec 2025 23:59:59 GMT',
])('Retry-After: %s means nothing', (value) => {
  expect(retryAfter(value, now)).toBeNull()
})
