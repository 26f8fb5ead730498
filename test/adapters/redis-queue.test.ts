import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { memoryQueue } from '../../adapters/memory/queue.ts'
import { type Access, emptyState } from '../../adapters/memory/state.ts'
import { redis } from '../../adapters/redis/index.ts'
import type { Message } from '../../src/contracts/inbox.ts'
import type { Claim, Job, Queue } from '../../src/contracts/queue.ts'
import { attempt, entry, event, made, settlement } from '../../src/testing/storage/rows.ts'
import { clients, describeRedis, freshNamespace, sharedRedis, type TestClient } from '../support/redis.ts'

type Step<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never

const groups = ['a', 'b', 'c', 'with space', 'constructor']
const workspaces = ['v', 'w', 'W']
const start = 1_763_000_000_000
const fewIndexes = fc.array(fc.nat(30), { maxLength: 6 })

const queueStep = fc.oneof(
  fc.record({
    op: fc.constant('add' as const),
    jobs: fc.array(fc.record({ n: fc.nat(30), due: fc.integer({ min: -50, max: 100 }) }), { maxLength: 8 }),
  }),
  fc.record({
    op: fc.constant('claim' as const),
    limit: fc.integer({ min: 1, max: 8 }),
    moreFree: fc.nat(4),
    cap: fc.nat(4),
    groups: fc.dictionary(fc.constantFrom(...groups), fc.nat(3)),
    workspaces: fc.dictionary(fc.constantFrom(...workspaces), fc.nat(5)),
    leaveOut: fc.uniqueArray(fc.constantFrom(...groups), { maxLength: 2 }),
    leaseMs: fc.integer({ min: 1, max: 60 }),
  }),
  fc.record({ op: fc.constantFrom('release' as const, 'complete' as const), which: fewIndexes }),
  fc.record({ op: fc.constant('extend' as const), which: fewIndexes, by: fc.nat(60) }),
  fc.record({
    op: fc.constant('pause' as const),
    group: fc.constantFrom(...groups),
    by: fc.integer({ min: -20, max: 80 }),
  }),
  fc.record({ op: fc.constant('pass' as const), ms: fc.nat(50) }),
)

function memory(): Access {
  const state = emptyState()
  return { read: async (look) => look(state), write: async (change) => change(state) }
}

const jobOf = (n: number, due: number): Job => ({
  id: `job-${String(n).padStart(2, '0')}`,
  workspace: workspaces[(n % groups.length) % workspaces.length]!,
  group: groups[n % groups.length]!,
  due_at: start + due,
})
const messageOf = (n: number): Message => ({
  id: `message-${n}`,
  workspaceId: 'default',
  event_type: 'a.b',
  data: `{"text":"\\u0000 ü \u2028","n":${n}}`,
  unique_id: n % 2 === 0 ? null : `unique ${n}`,
  received_at: start + ((n * 7) % 13),
})

/** Everything that a queue answers to these steps, tokens left out. */
async function workOff(queue: Queue, steps: readonly Step<typeof queueStep>[]): Promise<readonly unknown[]> {
  const answers: unknown[] = []
  const known: Claim[] = []
  let now = start
  for (const step of steps) {
    if (step.op === 'add') {
      await queue.add(step.jobs.map(({ n, due }) => jobOf(n, due)))
    } else if (step.op === 'claim') {
      const claims = await queue.claim({
        ...step,
        free: step.limit + step.moreFree,
        busy: {
          workspaces: new Map(Object.entries(step.workspaces)),
          groups: new Map(Object.entries(step.groups)),
          low: new Map(),
        },
        leaveOut: new Set(step.leaveOut),
        now,
      })
      known.push(...claims)
      answers.push(claims.map(({ token: _, ...job }) => job))
    } else if (step.op === 'extend') {
      answers.push(await queue.extend(chosen(known, step.which), now + step.by))
    } else if (step.op === 'pause') {
      await queue.pause([{ group: step.group, until: now + step.by }])
    } else if (step.op === 'pass') {
      now += step.ms
    } else {
      await queue[step.op](chosen(known, step.which))
    }
    answers.push(await queue.stats(now), await queue.nextDueAt!(now))
  }
  return answers
}

function chosen<T>(known: readonly T[], which: readonly number[]): T[] {
  return which.flatMap((i) => known.slice(i % Math.max(known.length, 1)).slice(0, 1))
}

describeRedis.each(clients)('the queue and the inbox on Redis through $name', { timeout: 30_000 }, ({ open }) => {
  let server: Awaited<ReturnType<typeof sharedRedis>>
  let connected: TestClient
  beforeAll(async () => {
    server = await sharedRedis()
    connected = await open(server.url)
  })
  afterAll(async () => {
    connected.close()
    await server.stop()
  })

  test('the queue answers as that of memory does, whatever happens in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(queueStep, { maxLength: 40 }), async (steps) => {
        const { queue } = redis(connected.client, { namespace: freshNamespace() })
        expect(await workOff(queue, steps)).toEqual(await workOff(memoryQueue(memory()), steps))
      }),
      { numRuns: 150 },
    )
  })

  test('batches of more than one script keep order, limit and cap', async () => {
    const { queue, inbox } = redis(connected.client, { namespace: freshNamespace() })
    const jobs = Array.from({ length: 1700 }, (_, i) => ({
      id: `j${String(i).padStart(4, '0')}`,
      workspace: 'w',
      group: `g${i % 2}`,
      due_at: start + i,
    }))
    await queue.add(jobs)
    const claims = await queue.claim({
      limit: 1300,
      free: 2000,
      cap: 700,
      busy: { workspaces: new Map([['w', 150]]), groups: new Map([['g1', 150]]), low: new Map() },
      leaveOut: new Set(),
      leaseMs: 1000,
      now: start + 5000,
    })
    expect(claims.filter(({ group }) => group === 'g0')).toHaveLength(700)
    expect(claims.filter(({ group }) => group === 'g1')).toHaveLength(550)
    await queue.complete(claims)
    expect((await queue.stats(start)).size).toBe(450)

    await inbox.put(Array.from({ length: 1200 }, (_, i) => ({ ...messageOf(i), received_at: i })))
    const taken = await inbox.take({ limit: 1100, maxBytes: 1_000_000, leaseMs: 1000, now: start })
    expect(taken.map(({ received_at }) => received_at)).toEqual(Array.from({ length: 1100 }, (_, i) => i))
    await inbox.done(taken)
    expect(await inbox.size()).toBe(100)
  })

  test('an addition wakes every process that listens, until it stops listening', async () => {
    const namespace = freshNamespace()
    const { queue, inbox, close } = redis(connected.client, { namespace })
    const woken: string[] = []
    let heard = (): void => {}
    const next = () => new Promise<void>((resolve) => (heard = resolve))
    const wake = (what: string) => () => {
      woken.push(what)
      heard()
    }
    const stop = await queue.onAdded!(wake('job'))
    const stopMessages = await inbox.onPut!(wake('message'))
    const first = next()
    await redis(connected.client, { namespace }).queue.add([jobOf(1, 0)])
    await first
    await stop()
    const second = next()
    await redis(connected.client, { namespace }).queue.add([jobOf(2, 0)])
    await redis(connected.client, { namespace }).inbox.put([messageOf(1)])
    await second
    expect(woken).toEqual(['job', 'message'])
    await stopMessages()
    await close()
  })

  test('who listens is told whether jobs were added here, and nothing of a try that falls due later', async () => {
    const namespace = freshNamespace()
    const storage = redis(connected.client, { namespace })
    const revision = await made(storage, 'w')
    const told: string[] = []
    const stop = await storage.queue.onAdded!((where) => told.push(where))
    const heard = async () => {
      await new Promise((later) => setTimeout(later, 200)) // rests between announcements are 50 ms at most
      return told.splice(0)
    }
    await storage.queue.add([jobOf(1, 0)])
    expect(await heard()).toEqual(['here'])
    await storage.queue.add([jobOf(1, 0)]) // a job already known is no addition
    expect(await heard()).toEqual([])
    await redis(connected.client, { namespace }).queue.add([jobOf(2, 0)])
    expect(await heard()).toEqual(['elsewhere'])
    await connected.command('PUBLISH', `{${namespace}}:added`, '') // as the version before does
    expect(await heard()).toEqual(['elsewhere'])
    const [one, two] = [attempt('a1', 'e'), attempt('a2', 'e')]
    await storage.events.ingest([entry('w', revision, event('e'), [one])], { enqueue: true })
    expect(await heard()).toEqual(['here'])
    await storage.attempts.add('w', [two], { enqueue: true })
    expect(await heard()).toEqual(['here'])
    const { settled_at } = settlement('w', one)
    const failed = (id: string, scheduled_at: number) =>
      settlement('w', id === 'b1' ? one : two, {
        status: 'FAILED',
        next: { ...attempt(id, 'e'), attempt_number: 2, scheduled_at },
      })
    await storage.attempts.settle([failed('b1', settled_at + 60_000)], { enqueue: true })
    expect(await heard()).toEqual([])
    await storage.attempts.settle([failed('b2', settled_at)], { enqueue: true })
    expect(await heard()).toEqual(['here'])
    await stop()
    await storage.close()
  })
})
