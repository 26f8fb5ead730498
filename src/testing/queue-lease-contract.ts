import type { Job, Queue } from '../contracts/queue.ts'
import { equal, there } from './assert.ts'
import { type Contract, promise } from './contract.ts'
import { ids, job, take } from './queue-claims.ts'

/** A job that is held until 20,000. */
function leased(id: string, group: string, due: number, token = `t-${id}/w`): Job {
  return { ...job(id, group, due), lease: { token, from: 10_000, until: 20_000 } }
}

function claimOf({ lease, ...rest }: Job) {
  return { ...rest, token: there(lease, 'the lease').token }
}

/** What a queue that takes leases promises of jobs that are held from the start. */
export const queueLeaseContract: Contract<Queue> = [
  whereTaken(
    'a job with a lease is claimed by nobody until the lease ends, then it comes at its place',
    async (queue) => {
      equal(await queue.add([leased('a', 'g', 5), job('b', 'g', 6), leased('c', 'h', 7)]), ['a', 'c'], 'held')
      equal(ids(await take(queue, { leaseMs: 60_000 })), ['b'], 'before')
      equal(ids(await take(queue, { now: 19_999 })), [], 'a moment before')
      await queue.add([job('d', 'g', 4), job('e', 'g', 8)])
      equal(ids(await take(queue, { now: 20_000 })), ['d', 'a', 'e', 'c'], 'after')
      equal(await queue.extend([claimOf(leased('a', 'g', 5))], 30_000), ['a'], 'the token is dead')
    },
  ),

  whereTaken('the token of a lease completes, lengthens and gives back as that of a claim does', async (queue) => {
    const [done, kept, given] = [leased('a', 'g', 5), leased('b', 'g', 6), leased('c', 'g', 7)]
    await queue.add([done, kept, given])
    equal((await queue.stats(10_000)).size, 3, 'jobs')
    await queue.complete([claimOf(done)])
    equal((await queue.stats(10_000)).size, 2, 'jobs left')
    equal(await queue.extend([claimOf(kept), claimOf(done)], 40_000), ['a'], 'lost')
    await queue.release([claimOf(given)])
    equal(ids(await take(queue)), ['c'], 'given back')
    equal(ids(await take(queue, { now: 39_999, leaseMs: 1 })), ['c'], 'the lengthened lease holds')
    equal(ids(await take(queue, { now: 40_001 })), ['b', 'c'], 'and ends')
  }),

  whereTaken('a job that is known already stays as it is, whatever lease it is added with', async (queue) => {
    await queue.add([job('a', 'g', 5), leased('b', 'g', 6)])
    equal(await queue.add([leased('a', 'g', 5), leased('b', 'g', 6, 'other/w'), job('b', 'g', 6)]), [], 'held')
    equal(ids(await take(queue)), ['a'], 'the job that waited')
    equal(
      await queue.extend([{ ...claimOf(leased('b', 'g', 6)), token: 'other/w' }], 30_000),
      ['b'],
      'the second lease',
    )
    equal(await queue.extend([claimOf(leased('b', 'g', 6))], 30_000), [], 'the first lease')
  }),

  whereTaken('a job of a paused group gets no lease', async (queue) => {
    await queue.pause([
      { group: 'paused', until: 15_000 },
      { group: 'over', until: 9_999 },
    ])
    equal(await queue.add([leased('a', 'paused', 5), leased('b', 'over', 6), leased('c', 'g', 7)]), ['b', 'c'], 'held')
    equal(ids(await take(queue)), [], 'while it is paused')
    equal(ids(await take(queue, { now: 15_000 })), ['a'], 'when the pause is over')
  }),
]

function whereTaken(name: string, run: (queue: Queue) => Promise<void>) {
  return promise<Queue>(name, async (queue) => {
    if (queue.takesLeases === true) await run(queue)
  })
}
