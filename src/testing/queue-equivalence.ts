import type { Claim, ClaimOptions, Job, Lease, Queue } from '../contracts/queue.ts'
import { alike, type Equivalence, inBoth, type Pair } from './equivalence.ts'
import { random } from './random.ts'
import { start } from './storage/rows.ts'

/**
 * Drives two queues with the same random operations, and throws at the first answer that differs.
 *
 * @example await runQueueEquivalence({ seed: 1, operations: 500, left: memory().queue, right: myQueue })
 */
export async function runQueueEquivalence({ seed, operations, left, right }: Equivalence<Queue>): Promise<void> {
  const rolls = random(seed)
  const { below, of } = rolls
  const some = (count: number) => Array.from({ length: 1 + below(count) })
  let now = start
  const held: Pair<Claim>[] = []
  const someHeld = () => (held.length === 0 ? [] : some(4).map(() => of(held)))

  for (let step = 0; step < operations; step++) {
    now += of([0, 0, 1, 10, 300])
    const both = <Answer>(run: (queue: Queue, side: 'left' | 'right') => Promise<Answer>): Promise<Pair<Answer>> =>
      inBoth(left, right, run)
    const what = below(10)
    if (what < 3) {
      const takesLeases = left.takesLeases === true && right.takesLeases === true
      const jobs = some(5).map((_, i) => someJob(rolls, now, takesLeases ? `lease-${step}-${i}` : null))
      await both((queue) => queue.add(jobs))
      for (const job of jobs) if (job.lease !== undefined) held.push(leased(job, job.lease))
    } else if (what < 6) {
      const options = someOptions(rolls, now)
      const claims = await both((queue) => queue.claim(options))
      alike(seed, step, ['claim', options], { left: claims.left.map(jobOf), right: claims.right.map(jobOf) })
      claims.left.forEach((claim, i) => held.push({ left: claim, right: claims.right[i]! })) // as many, just compared
      held.splice(0, held.length - 40)
    } else if (what === 6) {
      const pairs = [...new Set(someHeld())]
      const until = now + 1 + below(900)
      const lost = await both((queue, side) =>
        queue.extend(
          pairs.map((pair) => pair[side]),
          until,
        ),
      )
      alike(seed, step, ['extend', pairs, until], { left: lost.left.toSorted(), right: lost.right.toSorted() })
    } else if (what === 7) {
      const pairs = someHeld()
      await both((queue, side) => queue.release(pairs.map((pair) => pair[side])))
    } else if (what === 8) {
      const pairs = someHeld()
      await both((queue, side) => queue.complete(pairs.map((pair) => pair[side])))
    } else {
      const groups = [{ group: `g${below(8)}`, until: now + below(600) }]
      await both((queue) => queue.pause(groups))
    }
    alike(seed, step, ['stats', now], await both((queue) => queue.stats(now)))
  }
}

type Rolls = ReturnType<typeof random>

/** `token`: one job in six has a lease with it. */
function someJob({ below }: Rolls, now: number, token: string | null): Job {
  const group = below(8)
  const isLeased = below(6) === 0
  return {
    id: `j${below(60)}`,
    workspace: `w${group % 4}`,
    group: `g${group}`,
    due_at: now + below(400) - 200,
    ...(below(3) === 0 && { priority: 'low' }),
    ...(isLeased &&
      token !== null && { lease: { token: `${token}/w${group % 4}`, from: now, until: now + 1 + below(900) } }),
  }
}

function someOptions({ below }: Rolls, now: number): ClaimOptions {
  const limit = below(8)
  return {
    limit,
    free: limit + below(4),
    cap: 1 + below(12),
    busy: {
      workspaces: new Map([[`w${below(4)}`, below(9)]]),
      groups: new Map([[`g${below(8)}`, below(6) - 2]]),
      low: new Map([[`g${below(8)}`, below(4)]]),
    },
    leaveOut: new Set(Array.from({ length: 1 + below(2) }, () => `g${below(12)}`)),
    leaseMs: 1 + below(900),
    now,
  }
}

function leased({ lease: _, ...job }: Job, { token }: Lease): Pair<Claim> {
  const claim = { ...job, token }
  return { left: claim, right: claim }
}

function jobOf({ token: _, ...job }: Claim) {
  return job
}
