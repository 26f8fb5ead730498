import { lowRank } from '../core/job-rank.ts'
import type { Job, Queue } from '../contracts/queue.ts'
import { equal } from './assert.ts'
import { type Contract, promise } from './contract.ts'
import { ids, job, one, take } from './queue-claims.ts'

const low = (...[id, group, due_at, workspace]: Parameters<typeof job>): Job => ({
  ...job(id, group, due_at, workspace),
  priority: 'low',
})

/** How jobs of low priority stand behind others. */
export const queuePriorityContract: Contract<Queue> = [
  promise('jobs of low priority come behind all due ones of their group, by due time and id', async (queue) => {
    await queue.add([low('l2', 'g', 2), low('l1', 'g', 1), low('later', 'g', 10_001)])
    await queue.add([job('b', 'g', 500), job('a', 'g', 499), job('future', 'g', 10_001)])
    const claims = await take(queue)
    equal(ids(claims), ['a', 'b', 'l1', 'l2'], 'order')
    const { token: _, ...rest } = claims[2]!
    equal(rest, low('l1', 'g', 1), 'a claim tells the job as it was added')
    equal(ids(await take(queue, { now: 10_001 })), ['future', 'later'], 'when their time has come')
  }),

  promise('a fresh job is taken before a thousand of low priority that wait longer', async (queue) => {
    await queue.add(Array.from({ length: 1000 }, (_, i) => low(`l${1000 + i}`, 'g', i)))
    for (let round = 0; round < 3; round++) {
      await queue.add([job(`fresh${round}`, 'g', 5000 + round)])
      equal(ids(await take(queue, { limit: 2 })), [`fresh${round}`, `l${1000 + round}`], 'the next two')
    }
  }),

  promise('jobs of low priority take a quarter of the slots of their group', async (queue) => {
    await queue.add(Array.from({ length: 30 }, (_, i) => low(`l${10 + i}`, 'g', i)))
    equal(ids(await take(queue, { cap: 8 })), ['l10', 'l11'], 'of eight slots')
    equal(ids(await take(queue, { cap: 8, busy: { g: 1 }, low: { g: 1 } })), ['l12'], 'they use one slot')
    equal(ids(await take(queue, { cap: 8, busy: { g: 2 }, low: { g: 2 } })), [], 'two')
    equal(ids(await take(queue, { cap: 8, busy: { g: 7 } })), ['l13'], 'only one slot is left')
    await queue.add([job('a', 'g', 50), job('b', 'g', 51), job('c', 'g', 52)])
    equal(
      ids(await take(queue, { cap: 4, busy: { g: 1 }, low: { g: 1 } })),
      ['a', 'b', 'c'],
      'others take all that is left',
    )
    equal(ids(await take(queue, { cap: 3 })), ['l14'], 'of three slots one')
  }),

  promise('a group stands by its oldest due job, of whatever priority', async (queue) => {
    await queue.add([low('x1', 'x', 1), job('x2', 'x', 9), job('y', 'y', 5), low('z1', 'z', 7), job('z2', 'z', 8)])
    equal(ids(await take(queue)), ['x2', 'x1', 'y', 'z2', 'z1'], 'order')
  }),

  promise('a workspace that has only jobs it may not give yet keeps no other waiting', async (queue) => {
    await queue.add([low('a1', 'a', 1, 'v'), low('a2', 'a', 2, 'v'), job('b', 'b', 9000, 'w')])
    equal(ids(await take(queue, { cap: 4, busy: { a: 1 }, low: { a: 1 } })), ['b'], 'only the other one')
    equal(ids(await take(queue, { cap: 4 })), ['a1'], 'when a slot is free')
  }),

  promise('jobs of low priority wait again at their places: released, lapsed, lost', async (queue) => {
    await queue.add([low('l1', 'g', 1), low('l2', 'g', 2), job('a', 'g', 3)])
    const claims = await take(queue, { leaseMs: 1000 })
    await queue.release(claims.slice(1, 2))
    equal(ids(await take(queue, { now: 10_500, leaseMs: 500 })), ['l1'], 'released')
    equal(ids(await take(queue, { now: 11_001 })), ['a', 'l1', 'l2'], 'lapsed')
  }),

  promise('jobs of low priority are held, lengthened and completed as others are', async (queue) => {
    await queue.add([low('l1', 'g', 1), low('l2', 'g', 2)])
    const claims = await take(queue)
    equal(await queue.extend(claims, 20_000), [], 'lost')
    equal(ids(await take(queue, { now: 19_999 })), [], 'while they are held')
    await queue.complete(claims.slice(0, 1))
    equal(ids(await take(queue, { now: 20_000 })), ['l2'], 'after the end')
  }),

  promise('figures count jobs of low priority by when they fall due', async (queue) => {
    await queue.add([low('l', 'g', 4000), job('a', 'h', 9000), low('later', 'g', 12_000)])
    equal(await queue.stats(10_000), { size: 3, oldestDueAt: 4000 }, 'stats')
    if (queue.dueOf) equal(await queue.dueOf('g', 10_000), 1, 'due of the group')
    if (queue.nextDueAt) equal(await queue.nextDueAt(10_000), 4000, 'the next')
    const claim = await one(queue, { leaveOut: ['h'] })
    equal(claim.id, 'l', 'the only one')
    await queue.complete([claim])
    await queue.complete(await take(queue))
    if (queue.nextDueAt) equal(await queue.nextDueAt(10_000), 12_000, 'the last one')
    equal(await queue.stats(10_000), { size: 1, oldestDueAt: null }, 'nothing is due')
  }),

  promise('a pause holds jobs of low priority too, and they are due at its end', async (queue) => {
    await queue.add([low('l', 'g', 4000)])
    await queue.pause([{ group: 'g', until: 15_000 }])
    equal(ids(await take(queue)), [], 'while it lasts')
    if (queue.nextDueAt) equal(await queue.nextDueAt(10_000), 15_000, 'the next')
    equal(ids(await take(queue, { now: 15_000 })), ['l'], 'at its end')
  }),

  promise('a job that is known already keeps its priority', async (queue) => {
    await queue.add([low('l', 'g', 1), job('a', 'g', 2)])
    await queue.add([job('l', 'g', 1), low('a', 'g', 2)])
    equal(ids(await take(queue)), ['a', 'l'], 'order')
    equal(lowRank, 2 ** 51, 'stored orders say so')
  }),
]
