import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { PosthornError } from '../../src/errors.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

const mebibyte = 1024 * 1024

test('the consumer has at most 16 MiB of accepted events in its hands, and stores them all', async () => {
  const store = memory()
  const batches: number[] = []
  const inbox: typeof store.inbox = {
    ...store.inbox,
    async take(options) {
      const taken = await store.inbox.take(options)
      if (taken.length > 0) batches.push(taken.reduce((bytes, { data }) => bytes + data.length, 0))
      return taken
    },
  }
  const posthorn = createTestPosthorn({ storage: store, inbox })
  const stored = new Set<string>()
  posthorn.on('event', ({ event }) => stored.add(event.id))
  const { id: workspaceId } = await posthorn.workspaces.update('default', {})
  const data = JSON.stringify('x'.repeat(mebibyte - 2))
  await inbox.put(
    Array.from({ length: 40 }, (_, i) => ({
      id: `event-${i}`,
      workspaceId,
      event_type: 'large',
      data,
      unique_id: null,
      received_at: posthorn.clock.now(),
    })),
  )
  await posthorn.drain()
  expect(batches).toEqual([16 * mebibyte, 16 * mebibyte, 8 * mebibyte])
  expect(stored.size).toBe(40)
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

const silent = { debug() {}, info() {}, warn() {}, error() {} }

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
  return { posthorn, stored, returns: () => (isAway = false), takes: () => takes }
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
