import { expect, test } from 'vitest'

import { firstRestMs, restAfter } from '../../src/core/announcement-rest.ts'

test('rests of a burst double from 5 to 50 ms, and are short again when nothing more came', () => {
  const rests = [firstRestMs]
  for (const hadMore of [true, true, true, true, true, false, true]) rests.push(restAfter(rests.at(-1)!, hadMore))
  expect(rests).toEqual([5, 10, 20, 40, 50, 50, 5, 10])
})
