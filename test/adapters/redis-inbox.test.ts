import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { memoryInbox } from '../../adapters/memory/inbox.ts'
import { type Access, emptyState } from '../../adapters/memory/state.ts'
import { redis, type RedisClient } from '../../adapters/redis/index.ts'
import type { Inbox, Message, Taken } from '../../src/contracts/inbox.ts'
import {
  clients,
  describeOwnRedis,
  freshNamespace,
  startRedis,
  type TestClient,
  type TestRedis,
} from '../support/redis.ts'

type Step<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never

const start = 1_763_000_000_000
const fewIndexes = fc.array(fc.nat(30), { maxLength: 6 })

const anyStep = fc.oneof(
  fc.record({ op: fc.constant('put' as const), which: fewIndexes }),
  fc.record({
    op: fc.constant('take' as const),
    limit: fc.integer({ min: 1, max: 6 }),
    maxBytes: fc.integer({ min: 0, max: 250 }), // a message has about fifty
    leaseMs: fc.integer({ min: 1, max: 60 }),
  }),
  fc.record({ op: fc.constantFrom('done' as const, 'bury' as const), which: fewIndexes }),
  fc.record({ op: fc.constant('pass' as const), ms: fc.nat(50) }),
)

function memory(): Access {
  const state = emptyState()
  return { read: async (look) => look(state), write: async (change) => change(state) }
}

const messageOf = (n: number, received_at = start): Message => ({
  id: `message-${n}`,
  workspaceId: 'default',
  event_type: 'a.b',
  data: `{"text":"\\u0000 ü \u2028","n":${n}}`,
  unique_id: n % 2 === 0 ? null : `unique ${n}`,
  received_at,
})
const ids = (messages: readonly Message[]) => messages.map(({ id }) => id)
const messages = (count: number) => Array.from({ length: count }, (_, n) => messageOf(n))

const take = (inbox: Inbox, now = start, limit = 100) => inbox.take({ limit, maxBytes: 1_000_000, leaseMs: 1000, now })

/** Answers each consumer of the group as its name and how many messages it has. Clients differ in how they show XINFO. */
const consumersOf = `
local answer = {}
for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], 'workers')) do
  answer[#answer + 1] = consumer[2] .. ' ' .. consumer[4]
end
return answer`

/** The client, losing the answer to the next script after `lose`. */
function forgetful({ command }: TestClient): { readonly client: RedisClient; lose(): void } {
  let losing = false
  const call = async (name: string, ...args: string[]): Promise<unknown> => {
    const answer = await command(name, ...args)
    if (!losing || name !== 'EVALSHA') return answer
    losing = false
    throw new Error('Connection is closed.')
  }
  return { client: { call }, lose: () => void (losing = true) }
}

/** Everything that an inbox answers to these steps, tokens left out. */
async function takeIn(inbox: Inbox, steps: readonly Step<typeof anyStep>[]): Promise<readonly unknown[]> {
  const answers: unknown[] = []
  const known: Taken[] = []
  let now = start
  let received = start
  for (const step of steps) {
    if (step.op === 'put') {
      await inbox.put(step.which.map((n) => messageOf(n, received++)))
    } else if (step.op === 'take') {
      const taken = await inbox.take({ ...step, now })
      known.push(...taken)
      answers.push(taken.map(({ token: _, ...message }) => message))
    } else if (step.op === 'pass') {
      now += step.ms
    } else {
      await inbox[step.op](
        step.which.flatMap((i) => known.slice(i % Math.max(known.length, 1)).slice(0, 1)),
        'too "bad"',
      )
    }
    answers.push(await inbox.size())
  }
  return answers
}

describeOwnRedis.each(clients)('the inbox on Redis through $name', { timeout: 30_000 }, ({ open }) => {
  let server: TestRedis
  let connected: TestClient
  beforeAll(async () => {
    server = await startRedis()
    connected = await open(server.url)
  })
  afterAll(async () => {
    connected.close()
    await server.stop()
  })

  /** An inbox, a second process at the same one, and what an operator sees of it. */
  function opened() {
    const namespace = freshNamespace()
    const { inbox } = redis(connected.client, { namespace })
    const { inbox: other } = redis(connected.client, { namespace })
    const key = (name: string) => `{${namespace}}:inbox:${name}`
    const consumers = () => connected.command('EVAL', consumersOf, '1', key('stream'))
    const sizes = async () => [
      await connected.command('XLEN', key('stream')),
      await connected.command('HLEN', key('messages')),
      await connected.command('ZCARD', key('held')),
    ]
    return { namespace, inbox, other, key, consumers, sizes }
  }

  test('it answers as that of memory does, whatever happens in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
        const { inbox } = redis(connected.client, { namespace: freshNamespace() })
        const model = memoryInbox(memory(), async () => async () => {})
        expect(await takeIn(inbox, steps)).toEqual(await takeIn(model, steps))
      }),
      { numRuns: 100 },
    )
  })

  test('a consumer of the group is one take, and is gone with its last message', async () => {
    const { inbox, other, consumers } = opened()
    await inbox.put(messages(5))
    const [first, second] = await take(inbox, start, 2)
    const rest = await take(other)
    expect(await take(inbox)).toEqual([])
    expect(await consumers()).toEqual([`${first!.token} 2`, `${rest[0]!.token} 3`].toSorted())
    await inbox.done([first!])
    await other.bury(rest, 'bad')
    expect(await consumers()).toEqual([`${first!.token} 1`])
    await inbox.done([second!])
    expect(await consumers()).toEqual([])
    expect(await take(inbox)).toEqual([])
    expect(await consumers()).toEqual([])
  })

  test('messages of a consumer that died go to the next take, before what is new, and its name goes with them', async () => {
    const { inbox, other, consumers, key } = opened()
    await inbox.put(messages(5))
    const [a] = await take(inbox, start, 2)
    await take(inbox, start + 10, 1)
    const taken = await take(other, start + 1010, 4)
    expect(taken.map(({ id, tries }) => [id, tries])).toEqual([
      ['message-0', 2],
      ['message-1', 2],
      ['message-2', 2],
      ['message-3', 1],
    ])
    expect(await consumers()).toEqual([`${taken[0]!.token} 4`])
    const pending = await connected.command('XPENDING', key('stream'), 'workers', '-', '+', '10', taken[0]!.token)
    expect((pending as unknown[][]).map((entry) => Number(entry[3]))).toEqual([2, 2, 2, 1]) // id, consumer, idle, deliveries
    await inbox.done([a!])
    expect(await inbox.size()).toBe(5)
  })

  test('the stream is trimmed as messages finish, done or buried', async () => {
    const { inbox, sizes } = opened()
    await inbox.put(messages(600))
    const taken = await take(inbox, start, 600)
    expect(await sizes()).toEqual([600, 600, 600])
    await inbox.done(taken.slice(50))
    expect(await sizes()).toEqual([50, 50, 50])
    await inbox.bury(taken.slice(0, 50), 'bad')
    expect(await sizes()).toEqual([0, 0, 0])
  })

  test('a buried message is kept with its reason and its data', async () => {
    const { inbox, key } = opened()
    const data = '{"a/b":"\\u0000 \\" \u007f ü \u2028 🎉","n":12345678901234567890}'
    await inbox.put([{ ...messageOf(1), data }])
    await inbox.bury(await take(inbox), 'too "bad"')
    const dead = (await connected.command('HGET', key('dead'), 'message-1')) as string // as written
    const { data: _, ...message } = messageOf(1)
    expect(JSON.parse(dead)).toEqual({ reason: 'too "bad"', message, data })
  })

  test('messages of processes whose clocks differ come in the order in which they were put', async () => {
    const { inbox, other } = opened()
    await inbox.put([messageOf(1, start + 300_000)])
    await other.put([messageOf(2, start)])
    await inbox.put([messageOf(3, start + 300_001)])
    expect(ids(await take(inbox))).toEqual(['message-1', 'message-2', 'message-3'])
  })

  test('a flushed inbox is an empty one: old holds change nothing, and messages can be put again', async () => {
    const { inbox } = opened()
    await inbox.put(messages(3))
    const taken = await take(inbox, start, 2)
    await connected.command('FLUSHALL')
    expect(await take(inbox)).toEqual([])
    expect(await inbox.size()).toBe(0)
    await inbox.done(taken)
    await inbox.put(messages(3))
    await inbox.bury(taken, 'late')
    expect((await take(inbox)).map(({ tries }) => tries)).toEqual([1, 1, 1])
  })

  test('without its group everything that is not done is handed out anew, and tries go on', async () => {
    const { inbox, key, consumers } = opened()
    await inbox.put(messages(4))
    const [a, b] = await take(inbox, start, 3)
    await connected.command('XGROUP', 'DESTROY', key('stream'), 'workers')
    await inbox.done([a!])
    const again = await take(inbox)
    expect(again.map(({ id, tries }) => [id, tries])).toEqual([
      ['message-1', 2],
      ['message-2', 2],
      ['message-3', 1],
    ])
    await inbox.done([b!])
    expect(await consumers()).toEqual([`${again[0]!.token} 3`])
    await inbox.done(again)
    expect(await inbox.size()).toBe(0)
  })

  test('what an operator acknowledged by hand is handed out again, and what he trimmed is forgotten', async () => {
    const { inbox, key, consumers, sizes } = opened()
    await inbox.put(messages(3))
    await take(inbox, start, 2)
    const [first, second] = (await connected.command('XRANGE', key('stream'), '-', '+')) as [[string], [string]] // as documented
    await connected.command('XDEL', key('stream'), first[0])
    await connected.command('XACK', key('stream'), 'workers', second[0])
    const taken = await take(inbox, start + 1000)
    expect(taken.map(({ id, tries }) => [id, tries])).toEqual([
      ['message-1', 2],
      ['message-2', 1],
    ])
    expect(await consumers()).toEqual([`${taken[0]!.token} 2`])
    expect(await sizes()).toEqual([2, 2, 2])
  })

  test('a take that the server refuses half of lets go of no hold', async () => {
    const { inbox } = opened()
    await inbox.put(messages(2))
    await take(inbox, start, 1)
    await connected.command('ACL', 'SETUSER', 'default', '-xpending')
    try {
      await expect(take(inbox)).rejects.toThrow(/can't run|permission/)
    } finally {
      await connected.command('ACL', 'SETUSER', 'default', '+xpending')
    }
    expect(ids(await take(inbox, start + 1000))).toEqual(['message-0', 'message-1'])
  })

  test('without memory nothing is put, and what is there is still taken and done', async () => {
    const { inbox, consumers } = opened()
    await inbox.put(messages(3))
    await connected.command('CONFIG', 'SET', 'maxmemory', '1')
    try {
      await expect(inbox.put([messageOf(9)])).rejects.toMatchObject({ code: 'unavailable' })
      expect(ids(await take(inbox, start, 2))).toEqual(['message-0', 'message-1'])
      const again = await take(inbox, start + 1000)
      expect(ids(again)).toEqual(['message-0', 'message-1', 'message-2'])
      await inbox.done(again)
    } finally {
      await connected.command('CONFIG', 'SET', 'maxmemory', '0')
    }
    expect(await inbox.size()).toBe(0)
    expect(await consumers()).toEqual([])
  })

  test('after lost answers nothing is there twice, nothing is missing, and no consumer stays', async () => {
    const { namespace, other, consumers, sizes } = opened()
    const { client, lose } = forgetful(connected)
    const { inbox } = redis(client, { namespace })
    lose()
    await inbox.put(messages(3))
    expect(await sizes()).toEqual([3, 3, 0])
    lose()
    const second = await take(inbox, start, 2)
    expect(ids(second)).toEqual(['message-2']) // the first two were in the answer that was lost
    lose()
    await inbox.done(second)
    const rest = await take(other, start + 1000)
    expect(ids(rest)).toEqual(['message-0', 'message-1'])
    expect(await consumers()).toEqual([`${rest[0]!.token} 2`])
    await other.bury(rest.slice(0, 1), 'bad')
    await other.done(rest)
    expect(await sizes()).toEqual([0, 0, 0])
    expect(await consumers()).toEqual([])
  })

  test('the bytes of a take bound all its scripts together, and what was read too much is not counted as a try', async () => {
    const { inbox, consumers } = opened()
    const all = Array.from({ length: 1500 }, (_, n) => ({ ...messageOf(n), data: '"12345678"' }))
    await inbox.put(all)
    const bounded = () => inbox.take({ limit: 1500, maxBytes: 7009, leaseMs: 1000, now: start })
    const first = await bounded()
    expect(ids(first)).toEqual(ids(all.slice(0, 700)))
    await inbox.done(first)
    expect(await consumers()).toEqual([`${first[0]!.token} 1`])
    const second = await bounded()
    expect(ids(second)).toEqual(ids(all.slice(700, 1400)))
    const third = await bounded()
    expect(ids(third)).toEqual(ids(all.slice(1400)))
    expect(new Set([...second, ...third].map(({ tries }) => tries))).toEqual(new Set([1]))
    await inbox.done([...second, ...third])
    expect(await inbox.size()).toBe(0)
    expect(await consumers()).toEqual([])
  })
})
