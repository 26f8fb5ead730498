import { afterAll, beforeAll, expect, test } from 'vitest'

import { redis } from '../../adapters/redis/index.ts'
import type { Claim } from '../../src/contracts/queue.ts'
import { random } from '../../src/testing/random.ts'
import { attempt, entry, event, made } from '../../src/testing/storage/rows.ts'
import { claimOptions } from '../support/claim-options.ts'
import { type HeldBefore, queueBefore } from '../support/redis-queue-before.ts'
import { clients, describeRedis, freshNamespace, sharedRedis, type TestClient } from '../support/redis.ts'

const start = 1_763_000_000_000

// Stores of the version before go on without a stop, and its processes beside those of this version.
describeRedis('a store of the version before', { timeout: 60_000 }, () => {
  let server: Awaited<ReturnType<typeof sharedRedis>>
  let connected: TestClient
  beforeAll(async () => {
    server = await sharedRedis()
    connected = await clients[0]!.open(server.url)
  })
  afterAll(async () => {
    connected.close()
    await server.stop()
  })
  const both = () => {
    const namespace = freshNamespace()
    const prefix = `{${namespace}}:queue:`
    const keys = async () =>
      ((await connected.command('KEYS', `${prefix}*`)) as string[]).map((key) => key.slice(prefix.length))
    return {
      namespace,
      keys,
      before: queueBefore(connected, namespace),
      storage: redis(connected.client, { namespace }),
    }
  }
  const jobAt = (n: number) => ({ id: `j${1000 + n}`, group: `g${n % 600}`, due_at: start + n })

  test('what waits, is held or paused there is found, and once', async () => {
    const { keys, before, storage } = both()
    const { queue } = storage
    const jobs = Array.from({ length: 900 }, (_, n) => jobAt(n))
    for (let from = 0; from < 900; from += 300) await before.add(jobs.slice(from, from + 300))
    const held = await before.claim(10, 1, 30_000, start + 5000)
    for (let n = 20; n < 120; n++) await before.pause(`g${n}`, start + 60_000)
    expect((await queue.stats(start + 5000)).oldestDueAt).toBe(start + 10)
    expect(await queue.nextDueAt!(start + 5000)).toBe(start + 10)

    const one = await queue.claim(claimOptions({ limit: 1, free: 4000, now: start + 5000 }))
    expect(one.map(({ id, workspace, due_at }) => ({ id, workspace, due_at }))).toEqual([
      { id: 'j1010', workspace: '', due_at: start + 10 },
    ])
    const free = await queue.claim(
      claimOptions({ limit: 1000, free: 4000, cap: 16, leaseMs: 90_000, now: start + 5001 }),
    )
    expect(free).toHaveLength(900 - 11 - 200)
    const lapsed = await queue.claim(claimOptions({ limit: 1000, free: 4000, leaseMs: 90_000, now: start + 35_000 }))
    expect(lapsed.map(({ id }) => id).toSorted()).toEqual([...held, ...one].map(({ id }) => id).toSorted())
    await before.complete(held) // by tokens that are dead
    const paused = await queue.claim(claimOptions({ limit: 1000, free: 4000, now: start + 60_000 }))
    expect(paused).toHaveLength(200)
    await queue.complete([...free, ...lapsed, ...paused])
    expect(await queue.stats(start + 60_000)).toEqual({ size: 0, oldestDueAt: null })
    expect(await keys()).toEqual(['served'])
  })

  test('the workspace of a job is that of its attempt, or what adding the job again says', async () => {
    const { before, storage } = both()
    const revision = await made(storage, 'w')
    const known = attempt('a1', 'e', { endpoint_id: 'ep' })
    await storage.events.ingest([entry('w', revision, event('e'), [known])], { enqueue: false })
    await before.add([
      { id: 'a1', group: 'ep', due_at: start },
      { id: 'x1', group: 'other', due_at: start + 1 },
      { id: 'x2', group: 'other', due_at: start + 2 },
    ])
    const first = await storage.queue.claim(claimOptions({ limit: 2, free: 100, now: start + 9 }))
    expect(first.map(({ id, workspace }) => `${id} ${workspace}`).toSorted()).toEqual(['a1 w', 'x1 '])
    await storage.queue.add([{ id: 'x2', workspace: 'v', group: 'other', due_at: start + 2 }])
    await storage.queue.release(first)
    const again = await storage.queue.claim(claimOptions({ limit: 3, free: 100, now: start + 10 }))
    expect(again.map(({ id, workspace }) => `${id} ${workspace}`).toSorted()).toEqual(['a1 w', 'x1 v', 'x2 v'])
  })

  test('what a process of that version took leaves nothing behind that stands in the way', async () => {
    const { before, keys, storage } = both()
    const { queue } = storage
    await queue.add([
      { id: 'j1', workspace: 'w', group: 'g', due_at: start },
      { id: 'j2', workspace: 'w', group: 'h', due_at: start + 2 },
    ])
    await before.add([{ id: 'j3', group: 'g', due_at: start + 1 }])
    const taken = await before.claim(10, 10, 1000, start + 5)
    expect(taken.map(({ id }) => id)).toEqual(['j1', 'j3'])
    const claims = await queue.claim(claimOptions({ limit: 1, free: 10, now: start + 6 }))
    expect(claims.map(({ id }) => id)).toEqual(['j2'])
    await queue.complete(claims)
    await before.complete(taken)
    expect(await keys()).toEqual(['served'])
    expect(await queue.nextDueAt!(start + 6)).toBeNull()
  })

  test.each(Array.from({ length: 12 }, (_, seed) => seed))(
    'processes of both versions lose no job and hold none twice: seed %i',
    async (seed) => {
      const { below, of } = random(seed)
      const { before, keys, storage } = both()
      const { queue } = storage
      const workspaces = ['v', 'w', '']
      const groups = Array.from({ length: 7 }, (_, i) => `g${i}`)
      const known = new Map<string, number>()
      const holds = new Map<string, number>()
      const pauses = new Map<string, number>()
      const held: { readonly old: boolean; readonly claim: Claim | HeldBefore; until: number }[] = []
      let now = start
      const taken = (old: boolean, claims: readonly (Claim | HeldBefore)[], until: number): void => {
        for (const claim of claims) {
          const due = known.get(claim.id)
          expect(due, `${claim.id} is there`).toBeDefined()
          expect(due, `${claim.id} is due`).toBeLessThanOrEqual(now)
          expect(holds.get(claim.id) ?? 0, `${claim.id} is not held`).toBeLessThanOrEqual(now)
          expect(pauses.get(claim.group) ?? 0, `${claim.group} is not paused`).toBeLessThanOrEqual(now)
          holds.set(claim.id, until)
          held.push({ old, claim, until })
        }
      }
      for (let step = 0; step < 300; step++) {
        const old = below(2) === 0
        const what = below(10)
        if (what < 3) {
          const jobs = Array.from({ length: 1 + below(5) }, () => {
            const n = below(400)
            const id = `j${n}`
            const due_at = known.get(id) ?? now + below(400) - 300
            known.set(id, due_at)
            return { id, workspace: workspaces[(n % 7) % 2]!, group: groups[n % 7]!, due_at }
          })
          await (old ? before.add(jobs) : queue.add(jobs))
        } else if (what < 6) {
          const leaseMs = 1 + below(400)
          const limit = 1 + below(6)
          const cap = 1 + below(4)
          const claims = old
            ? await before.claim(limit, cap, leaseMs, now)
            : await queue.claim(claimOptions({ limit, free: 100, cap, leaseMs, now }))
          taken(old, claims, now + leaseMs)
        } else if (what < 9 && held.length > 0) {
          const [one] = held.splice(below(held.length), 1)
          const { claim, until } = one!
          const side = one!.old ? before : queue
          // A hold that lapsed may be somebody else's by now.
          const isHeld = holds.get(claim.id) === until && until > now
          const how = of(['complete', 'release', 'extend'] as const)
          if (how === 'extend') {
            const lost = await side.extend([claim as Claim], now + 300)
            if (isHeld) expect(lost).toEqual([])
            if (lost.length === 0) {
              holds.set(claim.id, now + 300)
              held.push({ ...one!, until: now + 300 })
            }
          } else if (isHeld) {
            await side[how]([claim as Claim])
            holds.delete(claim.id)
            if (how === 'complete') known.delete(claim.id)
          }
        } else if (what === 9) {
          const group = of(groups)
          const until = now + below(300)
          pauses.set(group, Math.max(until, pauses.get(group) ?? 0))
          await (old ? before.pause(group, until) : queue.pause([{ group, until }]))
        }
        now += below(30)
      }
      now += 3_600_000
      const rest = await queue.claim(claimOptions({ limit: 1000, free: 4000, cap: 1000, now }))
      expect(rest.map(({ id }) => id).toSorted()).toEqual([...known.keys()].toSorted())
      await queue.complete(rest)
      expect(await queue.stats(now)).toEqual({ size: 0, oldestDueAt: null })
      expect(await keys()).toEqual(['served'])
    },
  )
})
