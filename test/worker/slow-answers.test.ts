import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Reply } from '../../src/contracts/http-client.ts'
import { portablePlatform } from '../../src/portable.ts'
import { makePosthorn } from '../../src/posthorn.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { heldHttp, ok } from '../support/held-http.ts'

const { ended: _, ...fromBefore } = ok as Reply & { kind: 'response' }

test.each<[string, Reply, number]>([
  ['did not end its answer in time', { ...fromBefore, ended: false }, 1],
  ['ended its answer in time', { ...fromBefore, ended: true }, 4],
  ['was given up before its answer ended', { kind: 'error', message: 'too long', unreachable: false, ended: false }, 1],
  ['closed the connection without an answer', { kind: 'error', message: 'reset', unreachable: false }, 4],
  ['was sent to by a client that does not say whether its answer ended', fromBefore as Reply, 4],
])('an endpoint that %s has so many requests in flight', async (_what, reply, expected) => {
  const clock = fakeClock()
  const http = heldHttp()
  const posthorn = makePosthorn({ ...portablePlatform, batches: true })({
    storage: memory(),
    clock,
    http,
    deliver: { concurrency: 10, perEndpoint: 4 },
  })
  const answerAll = async (): Promise<void> => {
    for (const held of http.inFlight.slice()) held.answer(reply)
    await clock.advance(100)
  }
  await posthorn.endpoints.create('default', { id: 'a', request: { url: 'https://a.test/' }, events: ['*'] })
  for (let n = 0; n < 30; n++) await posthorn.events.create('default', { event_type: 'x', data: { n } })
  await posthorn.start()
  await clock.advance(100)
  for (let i = 0; i < 3; i++) await answerAll()
  expect(http.inFlight).toHaveLength(expected)

  const attempts = await posthorn.attempts.list('default', { status: reply.kind === 'error' ? 'FAILED' : 'SUCCESSFUL' })
  expect(attempts.data.length).toBeGreaterThanOrEqual(3)
  const stopping = posthorn.stop({ timeoutMs: 0 })
  await clock.advance(1000)
  await stopping
})
