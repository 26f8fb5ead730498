import fc from 'fast-check'
import { expect, test } from 'vitest'

import { InTurns } from '../../src/core/in-turns.ts'

interface Item {
  readonly workspace: string | null
  readonly n: number
}

function all(items: readonly Item[]) {
  const waiting = new InTurns<Item>()
  for (const item of items) waiting.add(item)
  return waiting
}

const item = (workspace: string | null, n: number): Item => ({ workspace, n })

test('workspaces take turns, and inside a workspace first come is first served', () => {
  const waiting = all([item('a', 1), item('a', 2), item('a', 3), item('b', 4), item(null, 5), item('b', 6)])
  const order: (number | undefined)[] = []
  while (waiting.size > 0) order.push(waiting.nextOf()?.n)
  expect(order).toEqual([1, 4, 5, 2, 6, 3])
  expect(waiting.nextOf()).toBeUndefined()
})

test('one that may not go keeps nobody else waiting, and keeps the turn', () => {
  const waiting = all([item('a', 1), item('b', 2), item('b', 3)])
  expect(waiting.nextOf((workspace) => workspace !== 'a')?.n).toBe(2)
  expect(waiting.next(({ n }) => n === 3)?.n).toBe(3)
  expect(waiting.next(() => false)).toBeUndefined()
  expect(waiting.nextOf()?.n).toBe(1)
})

test('what stops waiting is passed over', () => {
  const [first, second, third] = [item('a', 1), item('a', 2), item('a', 3)]
  const waiting = all([first, second, third])
  expect([waiting.remove(second), waiting.remove(second), waiting.remove(item('a', 9))]).toEqual([true, false, false])
  expect([waiting.nextOf()?.n, waiting.size]).toEqual([1, 1])
  expect(waiting.clear()).toEqual([third])
  expect([waiting.nextOf(), waiting.size]).toEqual([undefined, 0])
})

test('items are taken in turn until one is refused, and that one comes next', () => {
  const waiting = all([item('a', 1), item('a', 2), item('b', 3), item('b', 4), item('a', 5)])
  const taken: number[] = []
  waiting.takeWhile(({ n }) => n !== 4 && taken.push(n) > 0)
  expect(taken).toEqual([1, 3, 2])
  expect(waiting.nextOf()?.n).toBe(4)
  waiting.takeWhile(({ n }) => taken.push(n) > 0)
  expect([taken, waiting.size]).toEqual([[1, 3, 2, 5], 0])
})

test('whatever is added and taken out, in whatever order, it is as with plain lists', () => {
  const steps = fc.array(
    fc.tuple(fc.constantFrom('add', 'take', 'while', 'remove', 'odd'), fc.constantFrom('a', 'b', 'c'), fc.nat(20)),
    { maxLength: 100 },
  )
  fc.assert(
    fc.property(steps, (taken) => {
      const waiting = new InTurns<Item>()
      let lists: [string, Item[]][] = []
      const takenOut = (found: Item | undefined): void => {
        if (found === undefined) return
        const list = lists.find(([workspace]) => workspace === found.workspace)!
        lists = [...lists.filter((each) => each !== list), [list[0], list[1].filter((each) => each !== found)]]
        lists = lists.filter(([, items]) => items.length > 0)
      }
      taken.forEach(([what, workspace, which], n) => {
        const inOrder = lists.flatMap(([, items]) => items)
        const given = inOrder[which]
        if (what === 'add') {
          const added = item(workspace, n)
          waiting.add(added)
          const list = lists.find(([name]) => name === workspace)
          if (list === undefined) lists.push([workspace, [added]])
          else list[1].push(added)
        } else if (what === 'take') {
          expect(waiting.nextOf()).toBe(inOrder[0])
          takenOut(inOrder[0])
        } else if (what === 'while') {
          let left = which
          waiting.takeWhile((next) => {
            expect(next).toBe(lists[0]![1][0])
            if (left-- === 0) return false
            takenOut(next)
            return true
          })
        } else if (what === 'odd') {
          const odd = inOrder.find((each) => each.n % 2 === 1)
          expect(waiting.next((each) => each.n % 2 === 1)).toBe(odd)
          takenOut(odd)
        } else if (given !== undefined) {
          expect(waiting.remove(given)).toBe(true)
          for (const [, items] of lists) if (items.includes(given)) items.splice(items.indexOf(given), 1)
          lists = lists.filter(([, items]) => items.length > 0)
        }
        expect(waiting.size).toBe(lists.flatMap(([, items]) => items).length)
      })
    }),
  )
})
