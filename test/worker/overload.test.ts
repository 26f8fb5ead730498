import { describe, expect, test, vi } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Options } from '../../src/options.ts'
import { batcher } from '../../src/runtime/batcher.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const body = '{"event_type":"x","data":{}}'

/** A storage that answers nothing while it stalls, and counts the entries that were handed to it meanwhile. */
function stalling() {
  const store = memory()
  let stalled = false
  let handed = 0
  const ingest: typeof store.events.ingest = (entries, options) => {
    if (!stalled) return store.events.ingest(entries, options)
    handed += entries.length
    return new Promise(() => {})
  }
  return {
    storage: { ...store, events: { ...store.events, ingest } },
    stall: (now: boolean) => void (stalled = now),
    handed: () => handed,
  }
}

async function set(options: Options = {}) {
  const engine = stalling()
  const posthorn = createTestPosthorn({ storage: engine.storage, logger: silent, ...options })
  await posthorn.sources.create('default', { config: { http: { path: '/in' } } })
  const told: string[] = []
  posthorn.on('overloaded', ({ what }) => told.push(what))
  const post = (path = '/in', text = body) =>
    posthorn.gateway.fetch(new Request(`http://gateway.test${path}`, { method: 'POST', body: text }))
  await post()
  return { ...engine, posthorn, told, post }
}

describe('while the storage stalls for a minute', () => {
  test('no more wait than may, the rest is refused at once, and after it all goes on', async () => {
    const { posthorn, stall, handed, post, told } = await set({ gateway: { maxPending: 50 } })
    stall(true)
    const answers: number[] = []
    let waiting = 0
    let maxWaiting = 0
    for (let second = 0; second < 60; second++) {
      for (let n = 0; n < 20; n++) {
        maxWaiting = Math.max(maxWaiting, ++waiting)
        void post().then(({ status }) => {
          waiting--
          answers.push(status)
        })
      }
      await posthorn.clock.advance('1s')
    }
    await posthorn.clock.advance('30s')
    expect(new Set(answers)).toEqual(new Set([503]))
    expect(answers).toHaveLength(1200)
    expect(maxWaiting).toBeLessThanOrEqual(50 + 20)
    // Two batches every ten seconds, and nothing else reaches the storage.
    expect(handed()).toBeLessThanOrEqual(7 * 50 * 2)
    expect(told.length).toBeGreaterThan(0)
    expect(new Set(told)).toEqual(new Set(['gateway']))
    stall(false)
    expect((await post()).status).toBe(200)
  }, 60_000)

  test('requests for unknown paths wait within the same bound', async () => {
    const store = memory()
    let stalled = false
    const routes: typeof store.routes = (keys) => (stalled ? new Promise(() => {}) : store.routes(keys))
    const { posthorn, post } = await set({ storage: { ...store, routes }, gateway: { maxPending: 10 } })
    stalled = true
    await posthorn.clock.advance('2s')
    const answers: number[] = []
    for (let n = 0; n < 30; n++) void post(`/unknown-${n}`).then(({ status }) => answers.push(status))
    await posthorn.clock.advance('1s')
    expect(answers).toEqual(Array.from({ length: 20 }, () => 503))
  })

  test('bodies that wait together are bounded in bytes', async () => {
    const { posthorn, stall, post, told } = await set({ gateway: { maxBodyBytes: 64 * 1024 * 1024 } })
    stall(true)
    const large = `{"event_type":"x","data":"${'x'.repeat(40 * 1024 * 1024)}"}`
    const answers: number[] = []
    for (let n = 0; n < 6; n++) {
      void post('/in', large).then(({ status }) => answers.push(status))
      await posthorn.clock.advance(1)
    }
    await posthorn.clock.advance(100)
    // Two take 80 of 128 MiB; three would be more than the three quarters that one workspace gets.
    expect(answers).toEqual([503, 503, 503, 503])
    expect(told).toEqual(['gateway', 'gateway', 'gateway', 'gateway'])
  }, 60_000)

  test('publishing from code is refused beyond 10,000 waiting events, with a code to switch on', async () => {
    const { posthorn, stall, told } = await set()
    stall(true)
    const codes: string[] = []
    for (let n = 0; n < 11_050; n++) {
      posthorn.events.create('default', { event_type: 'x', data: {} }).catch(({ code }) => codes.push(code as string))
    }
    await posthorn.clock.advance(100)
    // Two batches of 500 are on their way; three quarters of 10,000 wait behind them, since they are of one workspace.
    await vi.waitFor(() => expect(codes.length).toBeGreaterThanOrEqual(2550), { timeout: 10_000 })
    expect(codes).toEqual(Array.from({ length: codes.length }, () => 'overloaded'))
    expect(codes.length).toBeLessThanOrEqual(3550)
    expect(told).toEqual(codes.map(() => 'storage'))
  }, 60_000)

  test('the worker holds no more than twice its slots, however much is due', async () => {
    const store = memory()
    let stalled = false
    const settle: typeof store.attempts.settle = (batch, options) =>
      stalled ? new Promise(() => {}) : store.attempts.settle(batch, options)
    let held = 0
    const claim: typeof store.queue.claim = async (options) => {
      const claims = await store.queue.claim(options)
      held += claims.length
      return claims
    }
    const release: typeof store.queue.release = async (claims) => {
      held -= claims.length
      await store.queue.release(claims)
    }
    const storage = { ...store, queue: { ...store.queue, claim, release }, attempts: { ...store.attempts, settle } }
    const posthorn = createTestPosthorn({ storage, logger: silent, deliver: { concurrency: 8, perEndpoint: 8 } })
    await posthorn.endpoints.create('default', { request: { url: 'https://shop.test/' }, events: ['*'] })
    for (let n = 0; n < 100; n++) await posthorn.events.create('default', { event_type: 'x', data: {} })
    stalled = true
    await posthorn.start()
    await posthorn.clock.advance('9s')
    expect(held).toBe(16)
    expect(posthorn.deliveries).toHaveLength(16)
    stalled = false
    const stopped = posthorn.stop({ timeoutMs: 1000 })
    await posthorn.clock.advance('30s')
    await stopped
  }, 60_000)
})

test('entries that wait to be gathered are bounded in bytes, and counted down as they go', async () => {
  const clock = fakeClock()
  let release = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const mib = 1024 * 1024
  const gathering = batcher<number, number>({
    flush: async (batch) => {
      await gate
      return batch
    },
    bytesOf: (size) => size,
    workspaceOf: (size) => (size === 31 * mib ? 'other' : 'w'),
    clock,
    batches: true,
  })
  const going = [gathering.add(4 * mib), gathering.add(4 * mib)]
  await clock.advance(1)
  // Three quarters of 128 MiB for one workspace, and room for another one.
  const waiting = Array.from({ length: 3 }, () => gathering.add(32 * mib))
  waiting.push(gathering.add(31 * mib))
  await expect(gathering.add(1)).rejects.toMatchObject({ code: 'overloaded' })
  release()
  await Promise.all([...going, ...waiting])
  expect(await gathering.add(32 * mib)).toBe(32 * mib)
})
