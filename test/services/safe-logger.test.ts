import { expect, test } from 'vitest'

import type { Logger } from '../../src/contracts/observer.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

const each = (write: () => never): Logger => ({ debug: write, info: write, warn: write, error: write })
const fail = (): never => {
  throw new Error('the disk is full')
}
const loggers: Record<string, Logger> = {
  throws: each(fail),
  rejects: each((async () => fail()) as () => never), // an async function passes for one that answers nothing
}

// A rejection that nobody handles ends the process, and this run.
test.each(Object.entries(loggers))('a logger that %s ends nothing', async (_how, logger) => {
  const posthorn = createTestPosthorn({ logger })
  posthorn.on('event', fail)
  await posthorn.endpoints.create('default', { request: { url: 'https://shop.test/' }, events: ['*'] })
  await posthorn.events.create('default', { event_type: 'order.paid', data: {} })
  await posthorn.drain()
  expect(posthorn.deliveries).toHaveLength(1)
})
