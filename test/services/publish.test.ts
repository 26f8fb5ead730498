import { expect, test, vi } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { intercepted } from '../../src/testing/intercept.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

test('a process that publishes many events at once before it knows their workspace asks for it twice at most', async () => {
  let asked = 0
  const storage = intercepted(memory(), async (name, call) => {
    if (name === 'workspaces.find') asked++
    await Promise.resolve()
    return await call()
  })
  const posthorn = createTestPosthorn({ storage })
  const published = await Promise.all(
    Array.from({ length: 100 }, (_, n) => posthorn.events.create('default', { event_type: 'x', data: { n } })),
  )
  expect(new Set(published.map(({ id }) => id)).size).toBe(100)
  expect(asked).toBeLessThanOrEqual(2)
})

test('an unknown workspace is unknown to each of those who ask at once', async () => {
  const posthorn = createTestPosthorn()
  const publish = () => posthorn.events.create('nowhere', { event_type: 'x', data: {} })
  for (const one of [publish(), publish(), publish()])
    await expect(one).rejects.toThrow('workspace "nowhere" does not exist')
})

test('events for many endpoints are stored apart, one statement of them at a time: nobody else waits for them', async () => {
  const inner = memory()
  const begun: { readonly ids: readonly string[]; readonly attempts: number; end(): void }[] = []
  const ingest: typeof inner.events.ingest = async (entries, options) => {
    await new Promise<void>((end) => {
      begun.push({
        ids: entries.map(({ workspaceId }) => workspaceId),
        attempts: entries.reduce((sum, { attempts }) => sum + attempts.length, 0),
        end,
      })
    })
    return await inner.events.ingest(entries, options)
  }
  const posthorn = createTestPosthorn({ storage: { ...inner, events: { ...inner.events, ingest } } })
  const url = 'https://receiver.test/'
  for (const [id, count] of [
    ['wide', 900],
    ['narrow', 2],
  ] as const) {
    await posthorn.workspaces.create({ id })
    const endpoints = Array.from({ length: count }, (_, n) => ({ name: `${n}`, request: { url }, events: ['*'] }))
    await posthorn.config.sync(id, { endpoints })
  }
  const publish = (id: string) => posthorn.events.create(id, { event_type: 'x', data: {} })
  // Once before, so that the process knows both workspaces and all calls come together.
  for (const id of ['wide', 'narrow']) {
    const first = publish(id)
    await vi.waitFor(() => expect(begun).toHaveLength(1))
    begun.pop()!.end()
    await first
  }

  const wide = ['wide', 'wide', 'wide'].map(publish)
  const narrow = ['narrow', 'narrow'].map(publish)
  await vi.waitFor(() => expect(begun).toHaveLength(2))
  const byWorkspace = (id: string) => begun.find(({ ids }) => ids[0] === id)!
  expect(byWorkspace('narrow')).toMatchObject({ ids: ['narrow', 'narrow'], attempts: 4 })
  expect(byWorkspace('wide')).toMatchObject({ ids: ['wide', 'wide'], attempts: 1800 })
  byWorkspace('narrow').end()
  await Promise.all(narrow)
  expect(begun).toHaveLength(2)
  byWorkspace('wide').end()
  await vi.waitFor(() => expect(begun).toHaveLength(3))
  expect(begun[2]).toMatchObject({ ids: ['wide'], attempts: 900 })
  begun[2]!.end()
  await Promise.all(wide)
})

test.each([
  ['events', 'events.ingest', false],
  ['messages of the inbox', 'inbox.put', true],
] as const)('large %s are stored apart: nobody else waits for them', async (_, call, async) => {
  const begun: { readonly size: number; end(): void }[] = []
  const storage = intercepted(memory(), async (name, work, args) => {
    if (name === call) {
      const entries = args[0] as readonly unknown[]
      await new Promise<void>((end) => begun.push({ size: JSON.stringify(entries).length, end }))
    }
    return await work()
  })
  const posthorn = createTestPosthorn({ storage })
  for (const id of ['large', 'small']) {
    await posthorn.workspaces.create({ id })
    await posthorn.sources.create(id, { config: { http: { path: `/${id}` } }, async })
  }
  const send = (id: string, data: object) => {
    const body = JSON.stringify({ event_type: 'x', data })
    return posthorn.gateway.fetch(new Request(`http://gateway.test/${id}`, { method: 'POST', body }))
  }
  // Once before, so that the process knows both workspaces and all calls come together.
  for (const id of ['large', 'small']) {
    const first = send(id, {})
    await vi.waitFor(() => expect(begun).toHaveLength(1))
    begun.pop()!.end()
    await first
  }

  const large = [1, 2].map((n) => send('large', { n, text: 'x'.repeat(100_000) }))
  const small = send('small', {})
  await vi.waitFor(() => expect(begun).toHaveLength(2))
  const [narrow, wide] = begun.toSorted((a, b) => a.size - b.size)
  expect([narrow!.size < 10_000, wide!.size > 200_000]).toEqual([true, true])
  narrow!.end()
  expect((await small).status).toBe(200)
  wide!.end()
  for (const each of large) expect((await each).status).toBe(200)
})
