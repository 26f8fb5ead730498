import { afterAll, beforeAll, expect, test } from 'vitest'

import { redis } from '../../adapters/redis/index.ts'
import type { Message, Taken } from '../../src/contracts/inbox.ts'
import { random } from '../../src/testing/random.ts'
import { inboxBefore } from '../support/redis-inbox-before.ts'
import { clients, describeRedis, freshNamespace, sharedRedis, type TestClient } from '../support/redis.ts'

const start = 1_763_000_000_000
const of = (workspaceId: string, n: number): Message => ({
  id: `${workspaceId}-${1000 + n}`,
  workspaceId,
  // Inside a text, what looks like a field of the row is none.
  event_type: `"workspaceId":"other" "received_at":7`,
  data: `{"n":${n},"text":"ü \\u0000"}`,
  unique_id: n % 2 === 0 ? null : '\\"workspaceId":"other',
  received_at: start + n,
})
const most = { limit: 1000, maxBytes: 1 << 24, leaseMs: 1000 }

// Stores of the version before go on without a stop, and its processes beside those of this version.
describeRedis('an inbox of the version before', { timeout: 60_000 }, () => {
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
    const prefix = `{${namespace}}:inbox:`
    const keys = async () =>
      ((await connected.command('KEYS', `${prefix}*`)) as string[]).map((key) => key.slice(prefix.length))
    return { keys, before: inboxBefore(connected, namespace), inbox: redis(connected.client, { namespace }).inbox }
  }

  test('what waits there is taken over in parts, with all that it says, and in turns', async () => {
    const { before, inbox, keys } = both()
    const greedy = Array.from({ length: 600 }, (_, n) => of('greedy', n))
    for (let from = 0; from < 600; from += 200) await before.put(greedy.slice(from, from + 200))
    await before.put([of('a', 700)])
    expect(await inbox.size()).toBe(601)
    const taken: Taken[] = []
    let takes = 0
    for (; taken.length < 601; takes++) {
      const part = await inbox.take({ ...most, now: start })
      taken.push(...part)
      expect(part.length).toBeLessThanOrEqual(250)
    }
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
    expect(taken.map(({ token: _, tries: __, ...message }) => message).toSorted(byId)).toEqual(
      [...greedy, of('a', 700)].toSorted(byId),
    )
    expect(new Set(taken.map(({ tries }) => tries))).toEqual(new Set([1]))
    await inbox.done(taken)
    expect(await inbox.size()).toBe(0)
    expect(await keys()).toEqual([])
  })

  test('what a process of that version holds is its own until the lease ends, and then its token is dead', async () => {
    const { before, inbox, keys } = both()
    await before.put([of('a', 1), of('a', 2), of('b', 3)])
    const held = await before.take({ ...most, limit: 2, now: start })
    const free = await inbox.take({ ...most, now: start + 10 })
    expect(free.map(({ id }) => id)).toEqual(['b-1003'])
    await before.done(held.slice(0, 1))
    const lapsed = await inbox.take({ ...most, now: start + 1000 })
    expect(lapsed.map(({ id, tries }) => [id, tries])).toEqual([['a-1002', 2]])
    await before.done(held)
    expect(await inbox.size()).toBe(2)
    await inbox.done([...free, ...lapsed])
    expect(await keys()).toEqual([])
  })

  test('a large message is taken over alone, so that no step takes long', async () => {
    const { before, inbox } = both()
    const data = JSON.stringify('x'.repeat(1 << 20))
    await before.put([
      { ...of('a', 1), data },
      { ...of('a', 2), data },
      { ...of('a', 3), data },
    ])
    for (let n = 0; n < 3; n++) expect(await inbox.take({ ...most, now: start })).toHaveLength(1)
    expect(await inbox.take({ ...most, now: start })).toEqual([])
  })

  test.each(Array.from({ length: 12 }, (_, seed) => seed))(
    'processes of both versions lose no message and hold none twice: seed %i',
    async (seed) => {
      const { below, of: oneOf } = random(seed)
      const { before, inbox, keys } = both()
      const open = new Set<string>()
      const holds = new Map<string, number>()
      const held: { readonly old: boolean; readonly taken: readonly Taken[]; readonly until: number }[] = []
      let now = start
      let count = 0
      for (let step = 0; step < 200; step++) {
        const old = below(2) === 0
        const what = below(8)
        if (what < 3) {
          const messages = Array.from({ length: 1 + below(6) }, () => of(oneOf(['a', 'a', 'b', 'c']), count++))
          await (old ? before : inbox).put(messages)
          for (const { id } of messages) open.add(id)
        } else if (what < 6) {
          const leaseMs = 1 + below(300)
          const taken = await (old ? before : inbox).take({ limit: 1 + below(10), maxBytes: 400, leaseMs, now })
          for (const { id } of taken) {
            expect(open.has(id), `${id} is there`).toBe(true)
            expect(holds.get(id) ?? 0, `${id} is not held`).toBeLessThanOrEqual(now)
            holds.set(id, now + leaseMs)
          }
          held.push({ old, taken, until: now + leaseMs })
        } else if (held.length > 0) {
          const [one] = held.splice(below(held.length), 1)
          const { old: isOld, taken, until } = one!
          // A hold that lapsed may be somebody else's by now.
          if (until <= now || taken.some(({ id }) => holds.get(id) !== until)) continue
          await (isOld ? before : inbox)[below(4) === 0 ? 'bury' : 'done'](taken, 'no')
          for (const { id } of taken) open.delete(id)
        }
        now += below(40)
        expect(await inbox.size()).toBe(open.size)
      }
      now += 3_600_000
      const rest: Taken[] = []
      for (let part = await inbox.take({ ...most, now }); part.length > 0;) {
        rest.push(...part)
        part = await inbox.take({ ...most, now })
      }
      expect(rest.map(({ id }) => id).toSorted()).toEqual([...open].toSorted())
      await inbox.done(rest)
      expect((await keys()).filter((key) => key !== 'dead')).toEqual([])
    },
  )
})
