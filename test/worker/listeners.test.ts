import { getEventListeners } from 'node:events'

import { expect, onTestFinished, test, vi } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { PosthornError } from '../../src/errors.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** Follows all signals that are listened to. Answers the most listeners that one of them has now. */
function followSignals(): () => number {
  const signals = new Set<AbortSignal>()
  const add = EventTarget.prototype.addEventListener
  const spy = vi.spyOn(EventTarget.prototype, 'addEventListener').mockImplementation(function (
    this: EventTarget,
    ...args
  ) {
    if (this instanceof AbortSignal) signals.add(this)
    add.apply(this, args)
  })
  onTestFinished(() => spy.mockRestore())
  return () => Math.max(...[...signals].map((signal) => getEventListeners(signal, 'abort').length))
}

// Node 20 warns of a leak where a signal has more than ten.
test('no signal has more than ten listeners, with all tasks and with an engine that is away', async () => {
  const most = followSignals()
  const store = memory()
  let isAway = false
  const unlessAway =
    <Args extends unknown[], Answer>(call: (...args: Args) => Promise<Answer>) =>
    async (...args: Args) => {
      if (isAway) throw new PosthornError('unavailable', 'the connection is lost')
      return await call(...args)
    }
  const storage = {
    ...store,
    events: { ...store.events, ingest: unlessAway(store.events.ingest) },
    attempts: { ...store.attempts, settle: unlessAway(store.attempts.settle) },
  }
  const posthorn = createTestPosthorn({
    storage,
    queue: { ...store.queue }, // of another engine
    logger: silent,
    breaker: {},
    deliver: { disableAfterDays: 5 },
    retention: { eventsDays: 5, attemptsDays: 5 },
    operations: { workspace: 'default' },
  })
  await posthorn.sources.create('default', { async: true, config: { http: { path: '/in' } } })
  await posthorn.endpoints.create('default', { request: { url: 'https://shop.test/' }, events: ['*'] })
  for (let n = 0; n < 20; n++) await posthorn.events.create('default', { event_type: 'x', data: {} })
  await posthorn.start()
  await posthorn.clock.advance('1s')
  expect(most()).toBeGreaterThan(0)
  expect(most()).toBeLessThanOrEqual(10)
  isAway = true
  for (let n = 0; n < 20; n++) {
    await posthorn.gateway.fetch(
      new Request('http://gateway.test/in', { method: 'POST', body: '{"event_type":"x","data":{}}' }),
    )
  }
  await posthorn.clock.advance('1500ms')
  expect(most()).toBeLessThanOrEqual(10)
  isAway = false
  await posthorn.clock.advance('2s')
  expect((await posthorn.events.list('default', { limit: 100 })).data).toHaveLength(40)
  await posthorn.stop()
})
