import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Claim, Job, Queue } from '../../src/contracts/queue.ts'
import { maxLow } from '../../src/core/job-rank.ts'
import { maxFor } from '../../src/core/fair-share.ts'
import { runQueueEquivalence } from '../../src/testing/queue-equivalence.ts'
import { runStorageEquivalence } from '../../src/testing/storage-equivalence.ts'

/** The queue's promises in their plainest form: one list, looked through from end to end. */
function naiveQueue(): Queue {
  const jobs: { job: Job; token: string | null; until: number }[] = []
  const pauses = new Map<string, number>()
  const served = new Map<string, number>()
  let tokens = 0
  const heldBy = (claim: Claim) => jobs.find(({ job, token }) => job.id === claim.id && token === claim.token)
  const before = (a: Job, b: Job) => a.due_at - b.due_at || (a.id < b.id ? -1 : 1)
  return {
    async add(more) {
      for (const job of more)
        if (!jobs.some((kept) => kept.job.id === job.id)) jobs.push({ job, token: null, until: 0 })
      return []
    },
    async claim({ limit, free, cap, busy, leaveOut, leaseMs, now }) {
      const due = jobs
        .filter(({ job, until }) => job.due_at <= now && until <= now && (pauses.get(job.group) ?? 0) <= now)
        .filter(({ job }) => !leaveOut.has(job.group))
        .toSorted((a, b) => before(a.job, b.job))
      const groups = [...new Set(due.map(({ job }) => job.group))]
      const offered = groups.flatMap((group) => {
        const own = due.filter(({ job }) => job.group === group)
        const usual = own.filter(({ job }) => job.priority === undefined)
        const low = own.filter(({ job }) => job.priority === 'low')
        const lowRoom = Math.max(0, maxLow(cap) - (busy.low.get(group) ?? 0))
        return [...usual, ...low.slice(0, lowRoom)].slice(0, Math.max(0, cap - (busy.groups.get(group) ?? 0)))
      })
      const oldestOf = (group: string) => due.find(({ job }) => job.group === group)!.job.due_at
      return offered
        .map((kept) => {
          const { workspace } = kept.job
          const own = offered.filter(({ job }) => job.workspace === workspace)
          const level = (busy.workspaces.get(workspace) ?? 0) + own.indexOf(kept) + 1
          return { kept, level, turn: Math.max(oldestOf(own[0]!.job.group), served.get(workspace) ?? 0), workspace }
        })
        .toSorted((a, b) => a.level - b.level || a.turn - b.turn || (a.workspace < b.workspace ? -1 : 1))
        .filter(({ level }, place) => place < limit && level <= maxFor(free - place))
        .map(({ kept, workspace }) => {
          served.set(workspace, now)
          kept.token = `naive ${++tokens}`
          kept.until = now + leaseMs
          return { ...kept.job, token: kept.token }
        })
    },
    async extend(claims, until) {
      return claims.flatMap((claim) => {
        const kept = heldBy(claim)
        if (kept !== undefined) kept.until = until
        return kept === undefined ? [claim.id] : []
      })
    },
    async release(claims) {
      for (const claim of claims) Object.assign(heldBy(claim) ?? {}, { token: null, until: 0 })
    },
    async complete(claims) {
      for (const claim of claims) {
        const kept = heldBy(claim)
        if (kept !== undefined) jobs.splice(jobs.indexOf(kept), 1)
      }
    },
    async pause(groups) {
      for (const { group, until } of groups) pauses.set(group, Math.max(until, pauses.get(group) ?? 0))
    },
    async stats(now) {
      const due = jobs.filter(({ job, until }) => job.due_at <= now && until <= now).map(({ job }) => job.due_at)
      return { size: jobs.length, oldestDueAt: due.length === 0 ? null : Math.min(...due) }
    },
  }
}

test.for([1, 2, 3, 4])('the queue of memory behaves like a plain list, seed %i', async (seed) => {
  const run = runQueueEquivalence({ seed, operations: 2500, left: naiveQueue(), right: memory().queue })
  await expect(run).resolves.toBeUndefined()
})

test('two memories driven by the same operations answer alike', async () => {
  const run = runStorageEquivalence({ seed: 7, operations: 3000, left: memory(), right: memory() })
  await expect(run).resolves.toBeUndefined()
})
