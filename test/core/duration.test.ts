import { expect, test } from 'vitest'

import { durationText, sizeText } from '../../src/core/duration.ts'

test.each([
  [0, '0s'],
  [8_999, '8s'],
  [65_000, '1m5s'],
  [93_600_000, '26h0m0s'],
  [-5, '0s'],
])('%i ms is %s', (ms, expected) => {
  expect(durationText(ms)).toBe(expected)
})

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [3_690_988, '3.52 MiB'],
  [1024 ** 4 * 5000, '5000.00 TiB'],
])('%i bytes are %s', (bytes, expected) => {
  expect(sizeText(bytes)).toBe(expected)
})
