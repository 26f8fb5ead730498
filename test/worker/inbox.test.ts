import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
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
