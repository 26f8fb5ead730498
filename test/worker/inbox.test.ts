import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Message } from '../../src/contracts/inbox.ts'
import { PosthornError } from '../../src/errors.ts'
import type { FakeClock } from '../../src/testing/fake-clock.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

const mebibyte = 1024 * 1024
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** Messages of a workspace, the oldest first. */
const messagesOf = (workspaceId: string, count: number, data = '1'): Message[] =>
  Array.from({ length: count }, (_, n) => ({
    id: `${workspaceId}-${100 + n}`,
    workspaceId,
    event_type: 'x',
    data,
    unique_id: null,
    received_at: n,
  }))

test('the consumer has at most 16 MiB of accepted events in its hands, and stores them all', async () => {
  const store = memory()
  const data = JSON.stringify('x'.repeat(mebibyte - 2))
  let inHand = 0
  let most = 0
  let stored = 0
  const take: typeof store.inbox.take = async (options) => {
    const taken = await store.inbox.take(options)
    inHand += taken.length
    most = Math.max(most, inHand)
    return taken
  }
  const ingest: typeof store.events.ingest = async (entries, how) => {
    await posthorn.clock.sleep(10)
    inHand -= entries.length
    stored += entries.length
    return await store.events.ingest(entries, how)
  }
  const storage = { ...store, inbox: { ...store.inbox, take }, events: { ...store.events, ingest } }
  const posthorn = createTestPosthorn({ storage })
  for (let n = 0; n < 30; n++) {
    await posthorn.workspaces.create({ id: `w${n}` })
    await store.inbox.put(messagesOf(`w${n}`, 2, data))
  }
  await posthorn.start()
  await posthorn.clock.advance('5s')
  expect(most).toBeGreaterThan(12)
  expect(most).toBeLessThanOrEqual(16)
  expect(stored).toBe(60)
  await posthorn.stop()
})

/** A storage that takes a second for ten events of the workspace `wide`, whose events go to forty endpoints each. */
async function withWideWorkspace() {
  const store = memory()
  const stored: string[] = []
  let now: () => FakeClock
  const ingest: typeof store.events.ingest = async (entries, how) => {
    const wide = entries.filter(({ workspaceId }) => workspaceId === 'wide')
    await now().sleep(100 * wide.length)
    const answers = await store.events.ingest(entries, how)
    stored.push(...entries.map(({ event }) => event.id))
    return answers
  }
  const storage = { ...store, events: { ...store.events, ingest } }
  const process = () => {
    const posthorn = createTestPosthorn({ storage, logger: silent })
    now = () => posthorn.clock
    return posthorn
  }
  const posthorn = process()
  for (const id of ['wide', 'quiet']) await posthorn.workspaces.create({ id })
  for (let n = 0; n < 40; n++) {
    await posthorn.endpoints.create('wide', { request: { url: `https://${n}.test/` }, events: ['*'] })
  }
  return { store, posthorn, stored, of: (id: string) => stored.filter((event) => event.startsWith(id)) }
}

test('a workspace whose events take long to store keeps no other one waiting, and is stored in its order', async () => {
  const { store, posthorn, of } = await withWideWorkspace()
  await store.inbox.put(messagesOf('wide', 600))
  await posthorn.start()
  await posthorn.clock.advance('1s')
  for (const [n, message] of messagesOf('quiet', 50).entries()) {
    await store.inbox.put([message])
    await posthorn.clock.advance(100)
    expect(of('quiet')).toHaveLength(n + 1)
  }
  await posthorn.clock.advance('10m')
  expect(of('wide')).toEqual(messagesOf('wide', 600).map(({ id }) => id))
  expect(await store.inbox.size()).toBe(0)
  await posthorn.stop()
})

test('a stop gives back what it has not begun to store, as it was', async () => {
  const { store, posthorn, of } = await withWideWorkspace()
  await store.inbox.put(messagesOf('wide', 600))
  await posthorn.start()
  await posthorn.clock.advance('1s')
  const stopping = posthorn.stop()
  await posthorn.clock.advance('10s')
  await stopping
  const stored = of('wide').length
  expect(stored).toBe(100)
  const options = { limit: 1000, maxBytes: mebibyte, leaseMs: 1000, now: posthorn.clock.now() }
  const left = await store.inbox.take(options)
  expect(left.map(({ id }) => id)).toEqual(
    messagesOf('wide', 600)
      .map(({ id }) => id)
      .slice(stored),
  )
  expect(new Set(left.map(({ tries }) => tries))).toEqual(new Set([1]))
})

test('many workspaces whose events take long leave room for others', async () => {
  const store = memory()
  const quiet: string[] = []
  const ingest: typeof store.events.ingest = async (entries, how) => {
    if (entries.some(({ workspaceId }) => workspaceId !== 'quiet')) await posthorn.clock.sleep(20_000)
    else quiet.push(...entries.map(({ event }) => event.id))
    return await store.events.ingest(entries, how)
  }
  const posthorn = createTestPosthorn({ storage: { ...store, events: { ...store.events, ingest } } })
  await posthorn.workspaces.create({ id: 'quiet' })
  for (let n = 10; n < 16; n++) {
    const id = `w${n}`
    await posthorn.workspaces.create({ id })
    for (let i = 0; i < 40; i++)
      await posthorn.endpoints.create(id, { request: { url: `https://${i}.test/` }, events: ['*'] })
    await store.inbox.put(messagesOf(id, 1000))
  }
  await posthorn.start()
  await posthorn.clock.advance('1s')
  await store.inbox.put(messagesOf('quiet', 3))
  await posthorn.clock.advance(100)
  expect(quiet).toHaveLength(3)
  const stopping = posthorn.stop({ timeoutMs: 0 })
  await posthorn.clock.advance('2s')
  await stopping
})

test('a workspace that fills the inbox keeps no other one waiting', async () => {
  const store = memory()
  const posthorn = createTestPosthorn({ storage: store })
  const order: string[] = []
  posthorn.on('event', ({ workspace_id }) => order.push(workspace_id))
  await posthorn.workspaces.create({ id: 'quiet' })
  const message = (workspaceId: string, n: number) => ({
    id: `${workspaceId}-${n}`,
    workspaceId,
    event_type: 'x',
    data: '1',
    unique_id: null,
    received_at: posthorn.clock.now() + n,
  })
  const { id } = await posthorn.workspaces.get('default')
  await store.inbox.put(Array.from({ length: 5000 }, (_, n) => message(id, n)))
  await store.inbox.put([message('quiet', 9000)])
  await posthorn.drain()
  expect(order).toHaveLength(5001)
  expect(order.indexOf('quiet')).toBeLessThan(500)
})

/** Events are accepted while the storage is away: handed over by the gateway of the process that works, or left to a take. */
async function whileAway(ms: string, accepted: 'handed over' | 'taken') {
  const store = memory()
  let isAway = true
  let takes = 0
  const ingest: typeof store.events.ingest = async (...asked) => {
    if (isAway) throw new PosthornError('unavailable', 'the connection is lost')
    return await store.events.ingest(...asked)
  }
  const take: typeof store.inbox.take = async (options) => {
    const taken = await store.inbox.take(options)
    takes += taken.length
    return taken
  }
  const storage = { ...store, events: { ...store.events, ingest } }
  const posthorn = createTestPosthorn({ storage, inbox: { ...store.inbox, take }, logger: silent })
  await posthorn.sources.create('default', { async: true, config: { http: { path: '/in' } } })
  const body = '{"event_type":"x","data":{}}'
  const accept = async () => {
    for (let n = 0; n < 3; n++)
      await posthorn.gateway.fetch(new Request('http://gateway.test/in', { method: 'POST', body }))
  }
  if (accepted === 'taken') await accept()
  await posthorn.start()
  await posthorn.clock.advance(0)
  if (accepted === 'handed over') await accept()
  await posthorn.clock.advance(ms)
  const stored = async () => (await posthorn.events.list('default')).data.length
  expect(await stored()).toBe(0)
  return { posthorn, inbox: store.inbox, stored, returns: () => (isAway = false), takes: () => takes }
}

describe.each(['taken', 'handed over'] as const)('what was %s', (accepted) => {
  test.each(['3s', '40s', '10m'])('is stored within two seconds of a storage that was away for %s', async (ms) => {
    const { posthorn, stored, returns, takes } = await whileAway(ms, accepted)
    returns()
    await posthorn.clock.advance('2s')
    expect(await stored()).toBe(3)
    // No try is counted while the storage is away. What was handed over is taken once its lease has ended.
    expect(takes()).toBe(accepted === 'handed over' && ms === '3s' ? 0 : 3)
    await posthorn.stop()
  })
})

test('a stop while the storage is away waits for no storage', async () => {
  const { posthorn } = await whileAway('3s', 'handed over')
  await posthorn.stop({ timeoutMs: 1000 })
})

test.each(['taken', 'handed over'] as const)('a stop while the storage is away gives back what was %s', async (how) => {
  const { posthorn, inbox } = await whileAway('3s', how)
  await posthorn.stop({ timeoutMs: 1000 })
  const left = await inbox.take({ limit: 10, maxBytes: mebibyte, leaseMs: 1000, now: posthorn.clock.now() })
  expect(left.map(({ tries }) => tries)).toEqual([1, 1, 1])
})

test.each(['taken', 'handed over'] as const)(
  'a drain waits for no storage that is away: of what was %s',
  async (how) => {
    const { posthorn, returns, stored } = await whileAway('3s', how)
    await posthorn.drain()
    returns()
    await posthorn.clock.advance('2s')
    expect(await stored()).toBe(3)
    await posthorn.stop()
  },
)
