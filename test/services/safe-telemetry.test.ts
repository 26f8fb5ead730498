import { expect, test } from 'vitest'

import type { Telemetry } from '../../src/contracts/telemetry.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

const fail = (): never => {
  throw new Error('the exporter is broken')
}
const following = { trace: null, within: <Answer>(work: () => Answer) => work(), end() {} }
const sound: Telemetry = { current: () => null, publish: () => following, attempt: () => following }
const followedBy = (broken: Partial<typeof following>): Telemetry => {
  const follow = () => ({ ...following, ...broken })
  return { ...sound, publish: follow, attempt: follow }
}

const broken: Record<string, Telemetry> = {
  'when an event comes in': { ...sound, current: fail },
  'when it is to follow': { ...sound, publish: fail, attempt: fail },
  'before the work': followedBy({ within: fail }),
  'after the work': followedBy({
    within: (work) => {
      work()
      return fail()
    },
  }),
  'at the end': followedBy({ end: fail }),
}

test.each(Object.entries(broken))(
  'telemetry that throws %s changes nothing of what happens',
  async (_when, telemetry) => {
    const errors: string[] = []
    const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) }
    const posthorn = createTestPosthorn({ telemetry, logger })
    await posthorn.endpoints.create('default', { request: { url: 'https://shop.test/' }, events: ['*'] })
    await posthorn.sources.create('default', { async: true, config: { http: { path: '/in' } } })
    await posthorn.events.create('default', { event_type: 'order.paid', data: {} })
    const body = '{"event_type":"order.paid","data":{}}'
    const answer = await posthorn.gateway.fetch(new Request('http://gateway.test/in', { method: 'POST', body }))
    expect(answer.status).toBe(200)
    await posthorn.drain()
    expect((await posthorn.events.list('default')).data).toHaveLength(2)
    expect((await posthorn.attempts.list('default')).data.map(({ status }) => status)).toEqual([
      'SUCCESSFUL',
      'SUCCESSFUL',
    ])
    expect(new Set(errors)).toEqual(new Set(['the telemetry failed']))
  },
)

test('telemetry that follows nothing is done without', async () => {
  const nothing = () => undefined as never
  const posthorn = createTestPosthorn({ telemetry: { ...sound, publish: nothing, attempt: nothing } })
  await posthorn.endpoints.create('default', { request: { url: 'https://shop.test/' }, events: ['*'] })
  await posthorn.events.create('default', { event_type: 'order.paid', data: {} })
  await posthorn.drain()
  expect(posthorn.deliveries).toHaveLength(1)
})

test('telemetry whose `within` answers something else gets no say in what is answered', async () => {
  const telemetry = followedBy({ within: () => undefined as never })
  const posthorn = createTestPosthorn({ telemetry })
  const event = await posthorn.events.create('default', { event_type: 'order.paid', data: {} })
  expect(event.event_type).toBe('order.paid')
})
