import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { PosthornError } from '../../src/errors.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

test('jobs that a queue lost while it was away are back within three seconds of its return, however many they are', async () => {
  const lost = memory()
  const queue = memory().queue
  let isAway = false
  const posthorn = createTestPosthorn({
    storage: lost,
    queue: {
      ...queue,
      add: async (jobs) => {
        if (isAway) throw new PosthornError('unavailable', 'the connection is lost')
        return await queue.add(jobs)
      },
    },
    deliver: { perEndpoint: 256 },
    logger: silent,
  })
  await posthorn.endpoints.create('default', { request: { url: 'http://receiver.test/' }, events: ['*'] })
  await posthorn.start()
  isAway = true
  await Promise.all(
    Array.from({ length: 4000 }, () => posthorn.events.create('default', { event_type: 'x', data: {} })),
  )
  await posthorn.clock.advance('20s')
  expect(posthorn.deliveries).toHaveLength(0)
  isAway = false
  await posthorn.clock.advance('3s')
  expect(posthorn.deliveries).toHaveLength(4000)
  await posthorn.stop()
})
