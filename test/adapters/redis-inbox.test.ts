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
  workspaceId: `w${n % 3}`,
  event_type: 'a.b',
  data: `{"text":"\\u0000 ü \u2028","n":${n}}`,
  unique_id: n % 2 === 0 ? null : `unique ${n}`,
  received_at,
})
const ids = (messages: readonly Message[]) => messages.map(({ id }) => id)
const messages = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ ...messageOf(n, start + n), workspaceId: 'default' }))

const take = (inbox: Inbox, now = start, limit = 100) => inbox.take({ limit, maxBytes: 1_000_000, leaseMs: 1000, now })

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
    const sizes = async () => [
      await connected.command('HLEN', key('kept')),
      await connected.command('HLEN', key('data')),
      await connected.command('ZCARD', key('holds')),
    ]
    const keys = async () =>
      ((await connected.command('KEYS', key('*'))) as string[]).map((name) => name.slice(key('').length))
    return { namespace, inbox, other, key, keys, sizes }
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

  test('messages of a process that died go to the next take, before what is new', async () => {
    const { inbox, other } = opened()
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
    await inbox.done([a!])
    expect(await inbox.size()).toBe(5)
  })

  test('nothing is left of messages that finish, done or buried, but the dead', async () => {
    const { inbox, keys, sizes } = opened()
    await inbox.put(messages(600))
    const taken = await take(inbox, start, 600)
    expect(await sizes()).toEqual([600, 600, 600])
    await inbox.done(taken.slice(50))
    expect(await sizes()).toEqual([50, 50, 50])
    await inbox.bury(taken.slice(0, 50), 'bad')
    expect(await sizes()).toEqual([0, 0, 0])
    expect(await keys()).toEqual(['dead'])
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

  test('what an operator removed by hand is forgotten, and stands in nobody’s way', async () => {
    const { inbox, key, keys } = opened()
    await inbox.put(messages(4))
    await take(inbox, start, 1)
    for (const id of ['message-0', 'message-1']) {
      for (const name of ['kept', 'rows', 'data']) await connected.command('HDEL', key(name), id)
    }
    const taken = await take(inbox, start + 1000)
    expect(ids(taken)).toEqual(['message-2', 'message-3'])
    await inbox.done(taken)
    expect(await keys()).toEqual([])
  })

  test.each(['hset', 'zadd', 'hget'])('a take that the server refuses at %s loses no message', async (command) => {
    const { inbox } = opened()
    await inbox.put(messages(2))
    await take(inbox, start, 1)
    await connected.command('ACL', 'SETUSER', 'default', `-${command}`)
    try {
      await expect(take(inbox, start + 1000)).rejects.toThrow(/can't run|permission/)
    } finally {
      await connected.command('ACL', 'SETUSER', 'default', `+${command}`)
    }
    expect(ids(await take(inbox, start + 2000))).toEqual(['message-0', 'message-1'])
  })

  test('without memory nothing is put, and what is there is still taken and done', async () => {
    const { inbox, keys } = opened()
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
    expect(await keys()).toEqual([])
  })

  test('after lost answers nothing is there twice, nothing is missing', async () => {
    const { namespace, other, sizes } = opened()
    const { client, lose } = forgetful(connected)
    const { inbox } = redis(client, { namespace })
    lose()
    await inbox.put(messages(3))
    expect(await sizes()).toEqual([3, 3, 0])
    lose()
    const second = await take(inbox, start, 2)
    expect(ids(second)).toEqual(['message-0', 'message-1']) // asked again, it is the answer that was lost
    lose()
    await inbox.done(second)
    const rest = await take(other, start + 1000)
    expect(ids(rest)).toEqual(['message-2'])
    await other.bury(rest.slice(0, 1), 'bad')
    await other.done(rest)
    expect(await sizes()).toEqual([0, 0, 0])
  })

  test('the bytes of a take bound all its scripts together', async () => {
    const { inbox } = opened()
    const all = messages(1500).map((message) => ({ ...message, data: '"12345678"' }))
    await inbox.put(all)
    const bounded = () => inbox.take({ limit: 1500, maxBytes: 7009, leaseMs: 1000, now: start })
    const first = await bounded()
    expect(ids(first)).toEqual(ids(all.slice(0, 700)))
    await inbox.done(first)
    const second = await bounded()
    expect(ids(second)).toEqual(ids(all.slice(700, 1400)))
    const third = await bounded()
    expect(ids(third)).toEqual(ids(all.slice(1400)))
    expect(new Set([...second, ...third].map(({ tries }) => tries))).toEqual(new Set([1]))
    await inbox.done([...second, ...third])
    expect(await inbox.size()).toBe(0)
  })
})
