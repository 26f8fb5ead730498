import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Reply } from '../../src/contracts/http-client.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { portablePlatform } from '../../src/portable.ts'
import { makePosthorn } from '../../src/posthorn.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { faulty } from '../../src/testing/faulty.ts'
import { intercepted } from '../../src/testing/intercept.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { heldHttp, ok } from '../support/held-http.ts'

const url = 'https://shop.test/'
const logger = { debug() {}, info() {}, warn() {}, error() {} }

/** Publishes two events, one of which fails once; ends early when a call fails. Answers the ids that were accepted. */
async function scenario(storage: Storage): Promise<readonly string[]> {
  const posthorn = createTestPosthorn({ storage, logger })
  const accepted: string[] = []
  posthorn.receiver(url).answers(500, 200)
  try {
    for (const n of [1, 2]) {
      const { id } = await posthorn.events.create('default', { event_type: 'order', data: { n } })
      accepted.push(id)
    }
    await posthorn.tick()
    await posthorn.advance('10s')
  } catch {
    // The process died here; another one takes over.
  }
  return accepted
}

async function fresh(): Promise<Storage> {
  const storage = memory()
  await createTestPosthorn({ storage }).endpoints.create('default', {
    request: { url },
    events: ['*'],
    retry: { config: { attempts: [0, 5, 5, 5] } },
  })
  return storage
}

describe.each(['before', 'after'] as const)('a crash %s the n-th call of storage', (mode) => {
  test('loses nothing, whatever n', async () => {
    let calls = 0
    await scenario(faulty(await fresh(), { failAt: Infinity, mode, onCall: (count) => (calls = count) }))
    expect(calls).toBeGreaterThan(10)

    for (let failAt = 1; failAt <= calls; failAt++) {
      const storage = await fresh()
      const accepted = await scenario(faulty(storage, { failAt, mode }))
      const survivor = createTestPosthorn({ storage, logger })
      await survivor.advance('5m')
      const { data } = await survivor.attempts.list('default', { limit: 1000 })
      for (const id of accepted) {
        const own = data.filter(({ event_id }) => event_id === id)
        expect(
          own.filter(({ status }) => status === 'SUCCESSFUL'),
          `call ${failAt}, event ${id}`,
        ).toHaveLength(1)
      }
      expect(
        data.filter(({ status }) => status === 'INIT' || status === 'QUEUED'),
        `call ${failAt}`,
      ).toEqual([])
    }
  })
})

describe.each(['before', 'after'] as const)('a process that dies %s the n-th call of storage', (mode) => {
  const failed: Reply = { kind: 'response', status: 500, headers: {}, body: '', ended: true }

  /**
   * A process that publishes and delivers takes over two events as it stores them, of which one fails once. From the call
   * `dieAt` on no call is made any more, where `after` not even answered. Then another process takes over.
   */
  async function handedOff(dieAt: number) {
    const storage = memory()
    const clock = fakeClock()
    const [http, others] = [heldHttp(), heldHttp()]
    const names: string[] = []
    let counts = false
    const engine = intercepted(storage, async (name, call) => {
      if (counts) names.push(name)
      if (names.length < dieAt) return await call()
      if (mode === 'after' && names.length === dieAt) await call()
      return await new Promise(() => {})
    })
    const make = makePosthorn({ ...portablePlatform, batches: true })
    const posthorn = make({ storage: engine, clock, http, logger })
    const retry = { config: { attempts: [0, 5, 5, 5] } }
    await posthorn.endpoints.create('default', { request: { url }, events: ['*'], retry })
    const answer = (client: typeof http, reply: Reply) => client.inFlight.slice().forEach((held) => held.answer(reply))
    const accepted: string[] = []
    const publish = (n: number) => {
      const publishing = posthorn.events.create('default', { event_type: 'order', data: { n } })
      publishing.then(({ id }) => accepted.push(id)).catch(() => {})
    }
    await posthorn.start()
    // An endpoint that was never tried is claimed for.
    publish(0)
    await clock.advance('1s')
    answer(http, ok)
    await clock.advance('1s')

    counts = true
    for (const [n, reply] of [ok, failed].entries()) {
      publish(n + 1)
      await clock.advance(0)
      answer(http, reply)
      await clock.advance('1s')
    }
    await clock.advance('5s')
    answer(http, ok)
    await clock.advance('1s')
    const made = names.length

    const survivor = make({ storage, clock, http: others, logger })
    await survivor.start()
    for (let second = 0; second < 120; second++) {
      await clock.advance('1s')
      answer(others, ok)
    }
    const { data } = await survivor.attempts.list('default', { limit: 1000 })
    await survivor.stop()
    return { accepted, data, names: names.slice(0, made), sent: http.sent.length }
  }

  test('leaves what it took over to another process, whatever n', async () => {
    const whole = await handedOff(Infinity)
    expect(whole.sent).toBe(4)
    expect(whole.names.filter((name) => name === 'events.ingest')).toHaveLength(2)
    expect(whole.names.slice(0, whole.names.indexOf('attempts.settle'))).not.toContain('queue.claim')
    for (let dieAt = 1; dieAt <= whole.names.length; dieAt++) {
      const { accepted, data } = await handedOff(dieAt)
      const told = `call ${dieAt}, ${whole.names[dieAt - 1]}`
      for (const id of accepted) {
        const own = data.filter(({ event_id, status }) => event_id === id && status === 'SUCCESSFUL')
        expect(own, `${told}, event ${id}`).toHaveLength(1)
      }
      expect(
        data.filter(({ status }) => status === 'INIT' || status === 'QUEUED'),
        told,
      ).toEqual([])
    }
  })
})
