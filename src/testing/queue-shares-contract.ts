import type { Queue } from '../contracts/queue.ts'
import { equal } from './assert.ts'
import { type Contract, promise } from './contract.ts'
import { ids, job, one, take } from './queue-claims.ts'

/** How workspaces take turns and share slots. */
export const queueSharesContract: Contract<Queue> = [
  promise('workspaces take turns: the first slot of each comes before the second of any', async (queue) => {
    await queue.add(Array.from({ length: 20 }, (_, i) => job(`a${10 + i}`, 'ga', i, 'a')))
    await queue.add([job('b1', 'gb', 500, 'b'), job('b2', 'gb', 501, 'b'), job('c1', 'gc', 600, 'c')])
    equal(ids(await take(queue, { limit: 6 })), ['a10', 'b1', 'c1', 'a11', 'b2', 'a12'], 'by level')
  }),

  promise('a workspace with fewer slots in use comes first, whatever is due longer', async (queue) => {
    await queue.add([
      job('a1', 'ga', 1, 'a'),
      job('a2', 'ga', 2, 'a'),
      job('b1', 'gb', 500, 'b'),
      job('b2', 'gb', 501, 'b'),
    ])
    equal(ids(await take(queue, { limit: 1, workspaces: { a: 1 } })), ['b1'], 'the first slot of another')
    equal(ids(await take(queue, { limit: 2, workspaces: { a: 1, b: 1 } })), ['a1', 'b2'], 'then in turns')
  }),

  promise(
    'of workspaces with as many slots in use the one that waits longest since it was served comes first',
    async (queue) => {
      for (const workspace of ['a', 'b', 'c']) {
        await queue.add(Array.from({ length: 9 }, (_, i) => job(`${workspace}${i}`, `g${workspace}`, i, workspace)))
      }
      const served: string[] = []
      for (let now = 10_000; now < 10_006; now++) served.push((await one(queue, { now, leaseMs: 60_000 })).workspace)
      equal(served, ['a', 'b', 'c', 'a', 'b', 'c'], 'turns')
      await queue.add([job('d', 'gd', 9_000, 'd'), job('e', 'ge', 10_004, 'e')])
      equal(
        ids(await take(queue, { limit: 3, now: 10_006, leaseMs: 60_000 })),
        ['d', 'a2', 'b2'],
        'a new one by its due time',
      )
    },
  ),

  promise('a workspace alone takes three quarters of the slots, and of one slot that one', async (queue) => {
    await queue.add(Array.from({ length: 300 }, (_, i) => job(`a${1000 + i}`, `g${i % 30}`, i, 'a')))
    equal((await take(queue, { limit: 16, free: 16 })).length, 12, 'of sixteen')
    equal((await take(queue, { limit: 4, free: 4, workspaces: { a: 12 } })).length, 0, 'and no more')
    equal((await take(queue, { limit: 5, free: 5, workspaces: { a: 11 } })).length, 1, 'one more when one fell free')
    equal((await take(queue, { limit: 1, free: 1 })).length, 1, 'of one')
    equal((await take(queue, { limit: 1, free: 1, workspaces: { a: 2 } })).length, 1, 'two of three, and one is free')
    equal((await take(queue, { limit: 1, free: 1, workspaces: { a: 3 } })).length, 0, 'three of four, and one is free')
    equal((await take(queue, { limit: 100, free: 256 })).length, 100, 'no more than the limit')
  }),

  promise('two greedy workspaces get three sevenths each, and a third finds room at once', async (queue) => {
    for (const workspace of ['a', 'b']) {
      await queue.add(Array.from({ length: 40 }, (_, i) => job(`${workspace}${10 + i}`, `g${workspace}`, i, workspace)))
    }
    const claims = await take(queue, { limit: 28, free: 28 })
    const count = (of: string) => claims.filter(({ workspace }) => workspace === of).length
    equal([count('a'), count('b')], [12, 12], 'of twenty-eight')
    await queue.add(Array.from({ length: 9 }, (_, i) => job(`c${i}`, 'gc', 5000, 'c')))
    const more = await take(queue, { limit: 4, free: 4, workspaces: { a: 12, b: 12 } })
    equal(ids(more), ['c0', 'c1', 'c2'], 'for the third')
  }),

  promise('a workspace gives its groups by their oldest due job, each up to the cap', async (queue) => {
    await queue.add([job('a1', 'x', 1, 'a'), job('a2', 'y', 2, 'a'), job('a3', 'x', 3, 'a'), job('a4', 'x', 4, 'a')])
    await queue.add([job('b1', 'z', 9, 'b')])
    equal(ids(await take(queue, { cap: 2 })), ['a1', 'b1', 'a3', 'a2'], 'order')
  }),

  promise('a paused group keeps no other of its workspace waiting, and no other workspace', async (queue) => {
    await queue.add([job('a', 'paused', 1, 'v'), job('b', 'free', 2, 'v'), job('c', 'alone', 3, 'w')])
    await queue.pause([
      { group: 'paused', until: 15_000 },
      { group: 'alone', until: 12_000 },
    ])
    equal(ids(await take(queue)), ['b'], 'while both are paused')
    equal(ids(await take(queue, { now: 12_000, leaveOut: ['free'] })), ['c'], 'when one pause is over')
    equal(ids(await take(queue, { now: 15_000, leaveOut: ['free', 'alone'] })), ['a'], 'and the other')
  }),

  promise(
    'many workspaces get a slot each, those that wait longest first, and the rest the next time',
    async (queue) => {
      await queue.add(
        Array.from({ length: 1500 }, (_, i) => job(`j${10_000 + i}`, `g${i % 500}`, 1 + (i % 500), `w${i % 500}`)),
      )
      const first = await take(queue, { limit: 200, free: 256 })
      equal(
        first.map(({ workspace }) => workspace),
        Array.from({ length: 200 }, (_, i) => `w${i}`),
        'first',
      )
      const second = await take(queue, { limit: 300, free: 1000, now: 10_001, leaseMs: 9000 })
      equal(
        second.map(({ workspace }) => workspace),
        Array.from({ length: 300 }, (_, i) => `w${200 + i}`),
        'then',
      )
      equal((await take(queue, { limit: 500, free: 1000, now: 10_002 })).length, 500, 'one of each again')
    },
  ),

  promise('a deep backlog of one workspace beside many others is taken as far as the slots go', async (queue) => {
    await queue.add(Array.from({ length: 300 }, (_, i) => job(`a${1000 + i}`, `ga${i % 20}`, i, 'deep')))
    await queue.add(Array.from({ length: 90 }, (_, i) => job(`b${100 + i}`, `gb${i}`, 500, `w${100 + i}`)))
    const claims = await take(queue, { limit: 250, free: 1000 })
    equal(claims.filter(({ workspace }) => workspace === 'deep').length, 160, 'of the deep one')
    equal(new Set(ids(claims)).size, 250, 'different jobs')
  }),
]
