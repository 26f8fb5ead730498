import { expect, test } from 'vitest'

import { idMaker } from '../../src/core/id.ts'

const bytes = (fill: number) => (length: number) => new Uint8Array(length).fill(fill)

test('ids of one instance ascend bytewise, within a millisecond and when the clock steps back', () => {
  const times = [1000, 1000, 1000, 1001, 900, 900, 5000]
  let i = 0
  const newId = idMaker(
    () => times[i++]!,
    (length) => crypto.getRandomValues(new Uint8Array(length)),
  )
  const ids = times.map(newId)
  expect(ids).toEqual(ids.toSorted())
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/)
})

test('an id begins with its time as a ULID does', () => {
  // The example of the ULID specification.
  expect(idMaker(() => 1469918176385, bytes(0))()).toBe('01ARYZ6S410000000000000000')
})

test('counting upwards carries over digits', () => {
  const newId = idMaker(() => 1, bytes(31))
  newId()
  expect(newId().slice(10)).toBe('G000000000000000')
})
