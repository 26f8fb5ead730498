import { expect, test } from 'vitest'

import {
  add,
  ascending,
  compare,
  descending,
  entriesOf,
  first,
  firstFrom,
  type Position,
  remove,
  sorted,
  upTo,
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
    expect(entriesOf(list)).toEqual(plain.map(([, id]) => id))
    const [low, high] = [below(6000), below(6000)]
    expect([...upTo(list, high, low)]).toEqual(plain.filter(([at]) => at >= low && at <= high).map(([, id]) => id))
    expect(firstFrom(list, low)).toEqual(plain.find(([at]) => at >= low))
  }
  for (const position of plain) remove(list, position)
  expect([list.size, first(list), [...ascending(list, [0, 'a'])], [...descending(list, [0, 'a'])]]).toEqual([
    0,
    undefined,
    [],
    [],
  ])
})

test('a list that is used as a queue, with positions that come back to its start, keeps its order', () => {
  const { below } = random(2)
  for (const size of [1, 2, 40, 1200]) {
    const list = sorted(Array.from({ length: size }, (_, i): Position => [i, `id${i}`]))
    const plain = [...ascending(list)]
    for (let step = 0; step < 3000; step++) {
      const taken = plain.splice(0, 1 + below(Math.min(size, 50)))
      for (const position of taken) expect(remove(list, position)).toBe(true)
      // Some were given back, the others come again later.
      const back = taken.splice(below(taken.length + 1))
      for (const position of back.toReversed()) add(list, position)
      plain.unshift(...back)
      for (const [, id] of taken) {
        add(list, [size + step, id])
        plain.push([size + step, id])
      }
      plain.sort(compare)
      expect([list.size, first(list)]).toEqual([plain.length, plain[0]])
      if (step % 100 === 0) {
        expect([...ascending(list)]).toEqual(plain)
        expect([...descending(list)]).toEqual(plain.toReversed())
        expect(entriesOf(list)).toEqual(plain.map(([, id]) => id))
      }
    }
  }
})

test('what was removed is not kept', () => {
  const list = sorted<{ id: string }>()
  const things = Array.from({ length: 40 }, (_, i) => ({ id: `id${i + 10}` }))
  for (const [at, thing] of things.entries()) add(list, [at, thing])
  for (const [at, thing] of things.entries()) {
    remove(list, [at, thing])
    expect(JSON.stringify(list)).not.toContain(thing.id)
  }
})
