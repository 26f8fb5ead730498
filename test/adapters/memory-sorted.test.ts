import { expect, test } from 'vitest'

import {
  add,
  ascending,
  compare,
  descending,
  first,
  type Position,
  remove,
  sorted,
} from '../../adapters/memory/sorted.ts'
import { random } from '../../src/testing/random.ts'

test('a sorted list behaves like a plain one that is sorted anew each time', () => {
  const { below } = random(1)
  const list = sorted()
  let plain: Position[] = []
  for (let step = 0; step < 6000; step++) {
    // Mostly in order, as rows come; sometimes anywhere.
    const position: Position = below(3) > 0 ? [step, `id${step}`] : [below(6000), `id${below(3000)}`]
    if (below(4) > 0) {
      add(list, position)
      if (!plain.some((there) => compare(there, position) === 0)) plain.push(position)
    } else {
      const gone = plain[below(plain.length)] ?? position
      remove(list, gone)
      plain = plain.filter((there) => compare(there, gone) !== 0)
    }
    if (step % 500 !== 0) continue
    plain.sort(compare)
    expect([...ascending(list)]).toEqual(plain)
    expect([...ascending(list, position)]).toEqual(plain.filter((there) => compare(there, position) > 0))
    expect([...descending(list)]).toEqual(plain.toReversed())
    expect([...descending(list, position)]).toEqual(plain.filter((there) => compare(there, position) < 0).toReversed())
    expect([list.size, first(list)]).toEqual([plain.length, plain[0]])
  }
  for (const position of plain) remove(list, position)
  expect([list.size, first(list), [...ascending(list, [0, 'a'])], [...descending(list, [0, 'a'])]]).toEqual([
    0,
    undefined,
    [],
    [],
  ])
})
