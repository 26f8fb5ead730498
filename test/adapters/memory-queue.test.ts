import { expect, test } from 'vitest'

import { memoryQueue } from '../../adapters/memory/queue.ts'
import { emptyState } from '../../adapters/memory/state.ts'

const hourMs = 3_600_000
const busy = { workspaces: new Map(), groups: new Map(), low: new Map() }

function instance() {
  const state = emptyState()
  const queue = memoryQueue({ read: async (look) => look(state), write: async (change) => change(state) })
  const claim = (now: number) =>
    queue.claim({ limit: 100, free: 256, cap: 16, busy, leaveOut: new Set(), leaseMs: 30_000, now })
  const kept = () => {
    const { jobs, groups, lines, idle, turns, paused, held } = state.queue
    return [jobs.size, groups.size, lines.size, idle.size, turns.size, paused.size, held.size]
  }
  return { queue, claim, kept }
}

const job = (n: number) => ({ id: `j${n}`, workspace: `w${n}`, group: `w${n}.e`, due_at: 0 })

test('of a workspace whose jobs are done only its turn is remembered, and that for an hour', async () => {
  const { queue, claim, kept } = instance()
  await queue.add([1, 2, 3].map(job))
  await queue.complete(await claim(1))
  expect(kept()).toEqual([0, 0, 3, 3, 0, 0, 0])
  await claim(hourMs)
  expect(kept()).toEqual([0, 0, 3, 3, 0, 0, 0])
  await claim(hourMs + 60_001)
  expect(kept()).toEqual([0, 0, 0, 0, 0, 0, 0])
})

test('a group is the same one while a job of it is held, whatever happens to the others', async () => {
  const { queue, claim, kept } = instance()
  await queue.add([job(1)])
  const [held] = await claim(1)
  await queue.add([{ ...job(1), id: 'later', due_at: 1 }])
  await queue.complete(await claim(2))
  await queue.release([held!])
  expect((await claim(3)).map(({ id }) => id)).toEqual(['j1'])
  await queue.pause([{ group: 'w1.e', until: 10 }])
  await queue.complete(await claim(40_000))
  expect(kept()).toEqual([0, 0, 1, 1, 0, 0, 0])
})
