import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Claim, Job } from '../../src/contracts/queue.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { memory as foreign } from '../../adapters/memory/index.ts'
import { simulate, SimulationError } from '../../src/testing/simulation/simulate.ts'
import { claimedQueue } from '../support/claimed.ts'

/** The first seed that catches a broken storage, or null when none does. */
async function caught(around: (storage: Storage) => Storage, seeds = 30): Promise<SimulationError | null> {
  for (let seed = 0; seed < seeds; seed++) {
    try {
      await simulate({ seed, around })
    } catch (error) {
      if (error instanceof SimulationError) return error
      throw error
    }
  }
  return null
}

describe('the simulator catches', () => {
  test('a settle that loses a follow-up', async () => {
    const error = await caught((storage) => ({
      ...storage,
      attempts: {
        ...storage.attempts,
        settle: (settlements, options) =>
          storage.attempts.settle(
            settlements.map((settlement) => ({ ...settlement, next: null })),
            options,
          ),
      },
    }))
    expect(error?.message).toMatch(/which was to be followed/)
  })

  test('a settle that makes a follow-up twice', async () => {
    const error = await caught((storage) => ({
      ...storage,
      attempts: {
        ...storage.attempts,
        async settle(settlements, options) {
          const answers = await storage.attempts.settle(settlements, options)
          for (const { workspaceId, next } of settlements) {
            if (next) await storage.attempts.add(workspaceId, [{ ...next, id: `${next.id}-again` }], options)
          }
          return answers
        },
      },
    }))
    expect(error?.message).toMatch(/has no single attempt/)
  })

  test('a queue that hands a job out twice', async () => {
    const error = await caught((storage) => {
      const queue = storage.queue!
      let last: readonly Claim[] = []
      const claim: typeof queue.claim = async (options) => {
        const claims = await queue.claim(options)
        const again = [...claims, ...last]
        last = claims
        return again
      }
      return { ...storage, queue: { ...claimedQueue(queue), claim } }
    })
    expect(error?.message).toMatch(/twice: attempt|again: process/)
  })

  test('a queue whose leases never lapse', async () => {
    const error = await caught((storage) => {
      const queue = storage.queue!
      return {
        ...storage,
        queue: {
          ...queue,
          claim: (options) => queue.claim({ ...options, leaseMs: 1e12 }),
          extend: () => Promise.resolve([]),
        },
      }
    })
    expect(error?.message).toMatch(/never ended/)
  })

  test('a queue that forgets every second pause', async () => {
    const error = await caught((storage) => {
      const queue = storage.queue!
      let pauses = 0
      const pause: typeof queue.pause = (groups) => (pauses++ % 2 === 0 ? queue.pause(groups) : Promise.resolve())
      return { ...storage, queue: { ...queue, pause } }
    }, 100) // a pause matters in one run of ten
    expect(error?.message).toMatch(/pause: /)
  })

  test('a queue that takes no turns', async () => {
    const error = await caught((storage) => {
      const queue = storage.queue!
      const owners = new Map<string, string>()
      // All jobs are of one workspace to it, and it does not heed what a workspace has in work.
      const nobodys = (jobs: readonly Job[]) =>
        jobs.map((job) => {
          owners.set(job.group, job.workspace)
          return { ...job, workspace: 'all' }
        })
      return {
        ...storage,
        queue: {
          ...queue,
          add: (jobs) => queue.add(nobodys(jobs)),
          claim: async (options) => {
            const claims = await queue.claim({
              ...options,
              free: 1e9,
              busy: { ...options.busy, workspaces: new Map() },
            })
            return claims.map((claim) => ({ ...claim, workspace: owners.get(claim.group) ?? claim.workspace }))
          },
        },
        events: {
          ...storage.events,
          async ingest(entries) {
            const answers = await storage.events.ingest(entries, { enqueue: false })
            const stored = entries.filter((_, i) => answers[i]!.kind === 'stored')
            await queue.add(
              nobodys(
                stored.flatMap(({ workspaceId, attempts }) =>
                  attempts.map(({ id, endpoint_id, scheduled_at }) => ({
                    id,
                    workspace: workspaceId,
                    group: endpoint_id,
                    due_at: scheduled_at,
                  })),
                ),
              ),
            )
            return answers
          },
        },
      }
    })
    expect(error?.message).toMatch(/unfair: /)
  })

  test('a queue that loses the workspace of a job', async () => {
    const error = await caught((storage) => {
      const queue = storage.queue!
      const claim: typeof queue.claim = async (options) =>
        (await queue.claim(options)).map((one) => ({ ...one, workspace: '' }))
      return { ...storage, queue: { ...claimedQueue(queue), claim } }
    })
    expect(error?.message).toMatch(/unfair: /)
  })

  test('an inbox that forgets what is taken', async () => {
    const error = await caught((storage) => {
      const inbox = storage.inbox!
      const take: typeof inbox.take = async (options) => {
        const taken = await inbox.take(options)
        await inbox.done(taken)
        return taken
      }
      return { ...storage, inbox: { ...inbox, take } }
    })
    expect(error?.message).toMatch(/lost: event .* was not stored/)
  })

  test('an inbox that answers before it has the messages', async () => {
    const error = await caught((storage) => {
      const inbox = storage.inbox!
      const put: typeof inbox.put = async (messages) => messages.map(() => ({ kind: 'stored' }))
      return { ...storage, inbox: { ...inbox, put } }
    })
    expect(error?.message).toMatch(/lost: event .* was not stored/)
  })

  test('a limiter that grants too much', async () => {
    const error = await caught((storage) => ({
      ...storage,
      limiter: {
        take: (wants) =>
          Promise.resolve(wants.map(({ want }) => ({ granted: want, remaining: 1, retryAfterMs: 0, resetMs: 0 }))),
      },
    }))
    expect(error?.message).toMatch(/limit: /)
  })

  test('an ingest that answers before it stored', async () => {
    const error = await caught((storage) => ({
      ...storage,
      events: {
        ...storage.events,
        ingest: async (entries, options) => {
          const dropped = entries.filter((_, i) => i % 2 === 1 || entries.length > 1)
          await storage.events.ingest(dropped, options)
          return entries.map(() => ({ kind: 'stored' as const }))
        },
      },
    }))
    expect(error?.message).toMatch(/lost: event/)
    expect(error?.message).toMatch(/seed \d+ with \d+ events/)
  })
})

test('a queue of another engine, beside the storage, loses nothing either', async () => {
  for (let seed = 0; seed < 40; seed++) await simulate({ seed, storage: memory, queue: () => foreign().queue })
})

test('the same seed gives the same run', async () => {
  expect(await simulate({ seed: 7 })).toEqual(await simulate({ seed: 7 }))
})
