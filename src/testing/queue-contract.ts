import type { Claim, Queue } from '../contracts/queue.ts'
import { equal, ok, there } from './assert.ts'
import { type Contract, promise } from './contract.ts'
import { ids, job, one, take } from './queue-claims.ts'
import { queueLeaseContract } from './queue-lease-contract.ts'
import { queuePriorityContract } from './queue-priority-contract.ts'
import { queueSharesContract } from './queue-shares-contract.ts'

/** What every queue promises. `now` is 10,000 unless a case says otherwise. */
export const queueContract: Contract<Queue> = [
  ...queueSharesContract,
  ...queuePriorityContract,
  ...queueLeaseContract,

  promise('an empty queue gives nothing', async (queue) => {
    equal(await take(queue), [], 'claims')
    equal(await queue.stats(10_000), { size: 0, oldestDueAt: null }, 'stats')
    await queue.add([])
    await queue.release([])
    await queue.complete([])
    await queue.pause([])
    equal(await queue.extend([], 20_000), [], 'lost')
  }),

  promise('jobs of a group come by due time, then by id, and carry what was added', async (queue) => {
    await queue.add([job('c', 'g', 5), job('b', 'g', 7), job('a', 'g', 7), job('B', 'g', 7), job('d', 'g', 6)])
    const claims = await take(queue)
    equal(ids(claims), ['c', 'd', 'B', 'a', 'b'], 'order')
    const { token, ...rest } = there(claims[0], 'the first claim')
    equal(rest, job('c', 'g', 5), 'the job')
    ok(typeof token === 'string' && token !== '', 'a claim has a token')
  }),

  promise('groups come by their oldest due job', async (queue) => {
    await queue.add([job('1', 'late', 9), job('2', 'early', 3), job('3', 'middle', 5), job('4', 'early', 8)])
    equal(ids(await take(queue, { limit: 3 })), ['2', '4', '3'], 'order')
    equal(ids(await take(queue)), ['1'], 'the rest')
  }),

  promise('a job is due at its time, not before', async (queue) => {
    await queue.add([job('a', 'g', 10_001), job('b', 'h', 10_000)])
    equal(ids(await take(queue, { now: 9999 })), [], 'too early')
    equal(ids(await take(queue, { now: 10_000 })), ['b'], 'at its time')
    equal(ids(await take(queue, { now: 10_001 })), ['a'], 'a millisecond later')
  }),

  promise('no more than `limit` are taken', async (queue) => {
    await queue.add(Array.from({ length: 30 }, (_, i) => job(`j${i + 10}`, `g${i % 7}`, i)))
    const taken: string[] = []
    for (const size of [8, 8, 8, 6, 0]) {
      const claims = await take(queue, { limit: 8 })
      equal(claims.length, size, 'taken')
      taken.push(...ids(claims))
    }
    equal(new Set(taken).size, 30, 'different jobs')
    equal((await take(queue, { limit: 0 })).length, 0, 'with limit 0')
  }),

  promise(
    'a group gives at most the cap less what the caller holds, and others are not delayed by it',
    async (queue) => {
      await queue.add(Array.from({ length: 10 }, (_, i) => job(`s${i}`, 'slow', i)))
      await queue.add([job('f1', 'fast', 100), job('f2', 'fast', 101)])
      equal(ids(await take(queue, { cap: 3, busy: { slow: 1 } })), ['s0', 's1', 'f1', 'f2'], 'two of the cap of three')
      equal(ids(await take(queue, { cap: 3, busy: { slow: 3 } })), [], 'none at the cap')
      equal(ids(await take(queue, { cap: 3, busy: { slow: 4 } })), [], 'none beyond the cap')
      equal(ids(await take(queue, { cap: 1 })), ['s2'], 'and in order once there is room')
    },
  ),

  promise('a group of which the caller may hold more than the cap gives so many more', async (queue) => {
    await queue.add(Array.from({ length: 10 }, (_, i) => job(`s${i}`, 'slow', i)))
    equal(ids(await take(queue, { cap: 2, busy: { slow: -1 } })), ['s0', 's1', 's2'], 'one more than the cap')
    equal(ids(await take(queue, { cap: 2 })), ['s3', 's4'], 'as many as the cap')
  }),

  promise('however many groups are at the cap, the others give what they have', async (queue) => {
    const full = Array.from({ length: 100 }, (_, i) => `full${i}`)
    const busy = Object.fromEntries(full.map((group) => [group, 2]))
    await queue.add(full.map((group, i) => job(`a${i}`, group, i)))
    await queue.add([job('b', 'free', 200)])
    equal(ids(await take(queue, { cap: 2, busy })), ['b'], 'when all are new')
    await queue.add([job('c', 'free', 201), job('d', 'full50', 202)])
    equal(ids(await take(queue, { cap: 2, busy })), ['c'], 'when few are')
    equal(ids(await take(queue, { cap: 2, busy: { ...busy, full7: 1 } })), ['a7'], 'and one with room again')
  }),

  promise('a group that is left out gives nothing to this caller, and all to others', async (queue) => {
    await queue.add([job('a', 'out', 1), job('b', 'in', 2), job('c', 'out', 3)])
    equal(ids(await take(queue, { limit: 1, leaveOut: ['out', 'unknown'] })), ['b'], 'the others')
    equal(ids(await take(queue, { leaveOut: ['out'] })), [], 'nothing is left')
    equal(ids(await take(queue)), ['a', 'c'], 'to another caller')
  }),

  promise(
    'however many groups are left out, the others of their workspace and of others give what they have',
    async (queue) => {
      const out = Array.from({ length: 300 }, (_, i) => `out${i}`)
      await queue.add(out.map((group, i) => job(`a${i}`, group, i, `w${i % 100}`)))
      await queue.add([job('b', 'in', 400, 'w7'), job('c', 'other', 401, 'other')])
      equal(ids(await take(queue, { limit: 2, leaveOut: out })), ['b', 'c'], 'when all are new')
      await queue.add([job('d', 'in', 402, 'w7')])
      equal(ids(await take(queue, { limit: 2, leaveOut: out })), ['d'], 'when few are')
    },
  ),

  promise('groups may have any name', async (queue) => {
    const names = ['constructor', '__proto__', 'null', 'a:b', 'a-b', 'A_B', 'a"b', 'a\\b', '{a, b}', 'x'.repeat(64)]
    await queue.add(names.map((name, i) => job(`j${i}`, name, i)))
    equal(await take(queue, { cap: 1, busy: Object.fromEntries(names.map((name) => [name, 1])) }), [], 'all busy')
    equal(await take(queue, { leaveOut: names }), [], 'all left out')
    const claims = await take(queue, { cap: 1 })
    equal(
      claims.map(({ group }) => group),
      names,
      'groups',
    )
  }),

  promise('a job added again is left as it is, waiting, held or twice in one call', async (queue) => {
    await queue.add([job('a', 'g', 1), job('a', 'g', 1)])
    await queue.add([job('a', 'g', 500)])
    equal((await queue.stats(10_000)).size, 1, 'jobs')
    const claim = await one(queue)
    equal(claim.due_at, 1, 'due time')
    await queue.add([job('a', 'g', 1), job('b', 'g', 2)])
    equal(ids(await take(queue)), ['b'], 'the held one is not given out again')
    await queue.complete([claim])
    equal((await queue.stats(10_000)).size, 1, 'jobs after completion')
  }),

  promise('a completed job is gone, and may be added anew', async (queue) => {
    await queue.add([job('a', 'g', 1)])
    await queue.complete([await one(queue)])
    equal(await take(queue, { now: 100_000 }), [], 'nothing is left')
    await queue.add([job('a', 'g', 1)])
    equal(ids(await take(queue)), ['a'], 'added anew')
  }),

  promise('a held job is nobody else’s until its lease ends', async (queue) => {
    await queue.add([job('a', 'g', 1)])
    await one(queue)
    equal(await take(queue, { now: 10_999 }), [], 'while the lease lasts')
    equal(ids(await take(queue, { now: 11_000 })), ['a'], 'when it has ended')
  }),

  promise('a lapsed lease returns the job to its old place, and the old token is dead', async (queue) => {
    await queue.add([job('a', 'g', 1), job('b', 'g', 2)])
    const old = await one(queue)
    const [again, other] = await take(queue, { now: 12_000 })
    equal([again?.id, other?.id], ['a', 'b'], 'the lapsed one is first in line')
    ok(again?.token !== old.token, 'a new hold has a new token')
    equal(await queue.extend([old], 50_000), ['a'], 'lost to the old token')
    await queue.complete([old])
    await queue.release([old])
    equal((await queue.stats(12_000)).size, 2, 'the old token removes nothing')
    equal(await take(queue, { now: 12_500 }), [], 'the old token gives nothing back')
    equal(await queue.extend([there(again, 'claim')], 50_000), [], 'the new token holds')
  }),

  promise('a hold is lengthened, and shortened by nobody else', async (queue) => {
    await queue.add([job('a', 'g', 1), job('b', 'g', 2)])
    const claims = await take(queue)
    equal(await queue.extend(claims, 30_000), [], 'lost')
    equal(await take(queue, { now: 29_999 }), [], 'held until then')
    equal(ids(await take(queue, { now: 30_000 })), ['a', 'b'], 'and no longer')
  }),

  promise('a lapsed hold that nobody took is lengthened', async (queue) => {
    await queue.add([job('a', 'g', 1), job('b', 'g', 2), job('c', 'h', 3)])
    const [a] = await take(queue, { limit: 1 })
    // Something notices the lapse without taking the job.
    equal(ids(await take(queue, { now: 12_000, busy: { g: 100 } })), ['c'], 'the group is full')
    equal(await queue.extend([there(a, 'claim')], 40_000), [], 'lost')
    equal(ids(await take(queue, { now: 12_000 })), ['b'], 'held again')
    await queue.complete([there(a, 'claim')])
    equal((await queue.stats(12_000)).size, 2, 'jobs after completion')
  }),

  promise('a lapsed hold that nobody took can be completed', async (queue) => {
    await queue.add([job('a', 'g', 1), job('b', 'g', 2)])
    const claim = await one(queue)
    equal(ids(await take(queue, { now: 12_000, limit: 0 })), [], 'nothing taken')
    await queue.complete([claim])
    equal(ids(await take(queue, { now: 12_000 })), ['b'], 'what is left')
  }),

  promise('unknown claims are lost, and change nothing', async (queue) => {
    await queue.add([job('a', 'g', 1)])
    const claim = await one(queue)
    const invented = { ...claim, id: 'nobody' }
    equal(await queue.extend([invented, claim], 20_000), ['nobody'], 'lost')
    await queue.complete([invented])
    await queue.release([invented])
    equal((await queue.stats(10_000)).size, 1, 'jobs')
  }),

  promise('a released job is first in line again, at once, and its token is dead', async (queue) => {
    await queue.add([job('a', 'g', 1), job('b', 'g', 2), job('c', 'g', 3)])
    const [a, b] = await take(queue, { limit: 2 })
    await queue.release([there(b, 'b'), there(a, 'a')])
    const again = await take(queue)
    equal(ids(again), ['a', 'b', 'c'], 'order')
    equal(again[0]?.due_at, 1, 'due time')
    equal(await queue.extend([there(a, 'a')], 90_000), ['a'], 'lost')
  }),

  promise('a paused group waits exactly until the pause ends, the later of two', async (queue) => {
    await queue.add([job('a', 'g', 1), job('b', 'h', 2)])
    await queue.pause([{ group: 'g', until: 15_000 }])
    await queue.pause([{ group: 'g', until: 12_000 }])
    equal(ids(await take(queue, { leaseMs: 60_000 })), ['b'], 'while it is paused')
    equal(ids(await take(queue, { now: 14_999 })), [], 'a millisecond before')
    equal(ids(await take(queue, { now: 15_000, cap: 1, busy: { h: 1 } })), ['a'], 'at its end')
  }),

  promise('until when a group is paused is told, the later of two pauses', async (queue) => {
    if (queue.pausedUntil === undefined) return
    await queue.add([job('a', 'g', 10_000)])
    equal(await queue.pausedUntil('g', 10_000), null, 'before a pause')
    await queue.pause([{ group: 'g', until: 15_000 }])
    await queue.pause([{ group: 'g', until: 12_000 }])
    equal(await queue.pausedUntil('g', 10_000), 15_000, 'while it is paused')
    equal(await queue.pausedUntil('other', 10_000), null, 'of another group')
    equal(await queue.pausedUntil('g', 15_000), null, 'when it is over')
  }),

  promise('a pause holds for jobs added and released after it, and needs no job', async (queue) => {
    await queue.pause([{ group: 'g', until: 15_000 }])
    await queue.add([job('a', 'g', 1)])
    equal(await take(queue), [], 'added after the pause')
    const claim = await one(queue, { now: 15_000, leaseMs: 60_000 })
    await queue.pause([{ group: 'g', until: 20_000 }])
    await queue.release([claim])
    equal(await take(queue, { now: 19_999 }), [], 'released after the pause')
    equal(ids(await take(queue, { now: 20_000 })), ['a'], 'at its end')
  }),

  promise('a pause that is ended early holds no longer, and those of others hold on', async (queue) => {
    if (queue.resume === undefined) return
    await queue.add([job('a', 'g', 1), job('b', 'h', 2), job('c', 'g', 3)])
    await queue.pause([
      { group: 'g', until: 15_000 },
      { group: 'h', until: 15_000 },
    ])
    equal(await take(queue), [], 'while both are paused')
    await queue.resume([])
    await queue.resume(['g', 'unknown'])
    equal(ids(await take(queue)), ['a', 'c'], 'in order of time')
    equal((await queue.pausedUntil?.('g', 10_000)) ?? null, null, 'until when')
    await queue.pause([{ group: 'g', until: 12_000 }])
    await queue.add([job('d', 'g', 4)])
    equal(await take(queue), [], 'paused once more')
  }),

  promise('the hold on a job of a paused group can be lengthened and completed', async (queue) => {
    await queue.add([job('a', 'g', 1)])
    const claim = await one(queue)
    await queue.pause([{ group: 'g', until: 15_000 }])
    equal(await queue.extend([claim], 30_000), [], 'lost')
    await queue.complete([claim])
    equal((await queue.stats(10_000)).size, 0, 'jobs')
  }),

  promise('stats count waiting, held and far jobs, and tell the oldest due one that is not held', async (queue) => {
    await queue.add([job('a', 'g', 100), job('b', 'g', 200), job('far', 'h', 1e12)])
    equal(await queue.stats(50), { size: 3, oldestDueAt: null }, 'before anything is due')
    equal(await queue.stats(150), { size: 3, oldestDueAt: 100 }, 'when one is due')
    await take(queue, { now: 150, leaseMs: 1000 })
    equal(await queue.stats(199), { size: 3, oldestDueAt: null }, 'when that one is held')
    equal(await queue.stats(250), { size: 3, oldestDueAt: 200 }, 'when the next one is due')
    equal(await queue.stats(1150), { size: 3, oldestDueAt: 100 }, 'when the hold has lapsed')
  }),

  promise('twenty callers at once share two hundred jobs without overlap, each group in order', async (queue) => {
    const jobs = Array.from({ length: 200 }, (_, i) => job(`j${1000 + i}`, `g${i % 10}`, i))
    await queue.add(jobs)
    const shares = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const own: Claim[] = []
        // A caller whose groups are just looked at by another may get nothing for a moment.
        for (let tries = 0; tries < 5; tries++) own.push(...(await take(queue, { limit: 10, cap: 4, leaseMs: 60_000 })))
        return own
      }),
    )
    const all = shares.flat()
    equal(new Set(ids(all)).size, all.length, 'different jobs')
    const rest: Claim[] = []
    for (let more = await take(queue); more.length > 0; more = await take(queue)) rest.push(...more)
    equal([...ids(all), ...ids(rest)].toSorted(), ids(jobs), 'every job once')
  }),

  promise('jobs added at once from many sides are all there, once', async (queue) => {
    const jobs = Array.from({ length: 40 }, (_, i) => job(`j${100 + i}`, `g${i % 3}`, i))
    await Promise.all([queue.add(jobs), queue.add(jobs.toReversed()), queue.add(jobs.slice(10, 30)), queue.add(jobs)])
    equal((await queue.stats(10_000)).size, 40, 'jobs')
    equal(ids(await take(queue)).toSorted(), ids(jobs), 'ids')
  }),

  promise('a batch of five hundred goes through every method', async (queue) => {
    const jobs = Array.from({ length: 500 }, (_, i) => job(`j${1000 + i}`, `g${i % 25}`, i))
    await queue.add(jobs)
    const claims = await take(queue, { limit: 500 })
    equal(claims.length, 500, 'claims')
    equal(await queue.extend(claims, 50_000), [], 'lost')
    await queue.release(claims.slice(0, 250))
    await queue.complete(claims.slice(250))
    equal((await queue.stats(10_000)).size, 250, 'jobs')
  }),

  promise('when the next job may be claimed is told, pauses and leases counted', async (queue) => {
    if (queue.nextDueAt === undefined) return
    equal(await queue.nextDueAt(10_000), null, 'with no job')
    await queue.add([job('a', 'g', 12_000), job('b', 'h', 13_000)])
    equal(await queue.nextDueAt(10_000), 12_000, 'with two jobs')
    await queue.pause([{ group: 'g', until: 20_000 }])
    equal(await queue.nextDueAt(10_000), 13_000, 'with the first one paused')
    await one(queue, { now: 13_000, leaseMs: 2000 })
    equal(await queue.nextDueAt(13_000), 15_000, 'with the second one held')
    await queue.complete([await one(queue, { now: 15_000, leaseMs: 2000 })])
    equal(await queue.nextDueAt(15_000), 20_000, 'with only the paused one')
  }),

  promise('when the next of many jobs may be claimed is told', async (queue) => {
    if (queue.nextDueAt === undefined) return
    const jobs = Array.from({ length: 300 }, (_, i) => job(`j${1000 + i}`, `g${i}`, 12_000 + i, `w${i % 100}`))
    await queue.add(jobs.toReversed())
    equal(await queue.nextDueAt(10_000), 12_000, 'with all waiting')
    equal((await take(queue, { limit: 300, now: 13_000, leaseMs: 5000 })).length, 300, 'claims')
    equal(await queue.nextDueAt(13_000), 18_000, 'with all held')
    await queue.add([job('next', 'g', 17_000, 'w0')])
    equal(await queue.nextDueAt(13_000), 17_000, 'with one waiting')
  }),

  promise('listeners hear of added jobs until they stop', async (queue) => {
    if (queue.onAdded === undefined) return
    let heard: () => void = () => {}
    const hint = new Promise<void>((resolve) => (heard = resolve))
    const stop = await queue.onAdded(() => heard())
    await queue.add([job('a', 'g', 1)])
    await hint
    await stop()
    await stop()
  }),
]
