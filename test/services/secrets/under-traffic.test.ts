import { createHmac } from 'node:crypto'

import { expect, test } from 'vitest'

import { memory } from '../../../adapters/memory/index.ts'
import type { Storage } from '../../../src/contracts/storage.ts'
import { createTestPosthorn, type TestPosthorn } from '../../../src/testing/test-posthorn.ts'
import { memoryLog } from '../../http/api.ts'
import { keyNamed, whsec } from './keys.ts'

const url = 'https://shop.test/hooks'
const old = keyNamed('2026-11', 1)
const next = keyNamed('2026-12', 2)

/** Whether a receiver that knows one secret takes a delivery: the check of Standard Webhooks, by node:crypto alone. */
function takes(secret: string, { headers, body }: TestPosthorn['deliveries'][number]): boolean {
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const mac = createHmac('sha256', key).update(content).digest('base64')
  return headers['webhook-signature']?.split(' ').includes(`v1,${mac}`) === true
}

function open(storage: Storage, keys: readonly { id: string; key: string }[], startAt: number) {
  return createTestPosthorn({ storage, logger: memoryLog(), secrets: { keys }, startAt })
}

test('a receiver that switches at any moment of the overlap rejects none of 1,000 deliveries a minute', async () => {
  const posthorn = open(memory(), [old], Date.UTC(2026, 0, 1))
  await posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['*'] })
  const config = { secrets: [whsec] }
  await posthorn.plugins.create('default', { name: 'standard-webhooks', endpoint_id: 'shop', config })
  const publish = async (count: number) => {
    for (let i = 0; i < count; i += 10) {
      const events = Array.from({ length: 10 }, (_, n) => ({ event_type: 'order.paid', data: { i: i + n } }))
      await posthorn.events.createMany('default', events)
      await posthorn.advance(600)
    }
  }
  await publish(200)
  const rotatedAt = posthorn.deliveries.length
  const { secret } = await posthorn.endpoints.rotateSecret('default', 'shop', { overlap_seconds: 36 })
  await publish(600)
  const endedAt = posthorn.deliveries.length
  await publish(200)
  expect(posthorn.deliveries).toHaveLength(1000)
  const oldTakes = posthorn.deliveries.map((delivery) => takes(whsec, delivery))
  const newTakes = posthorn.deliveries.map((delivery) => takes(secret, delivery))
  // Whoever switches between the rotation and the end of the overlap takes all before with the old secret, all after with the new.
  expect(oldTakes.slice(0, endedAt)).not.toContain(false)
  expect(newTakes.slice(rotatedAt)).not.toContain(false)
  expect(oldTakes.slice(endedAt)).not.toContain(true)
})

test('the key is changed under traffic, and a process dies in the middle: every delivery is signed', async () => {
  const storage = memory()
  const startAt = Date.UTC(2026, 0, 1)
  const first = open(storage, [old, next], startAt)
  const endpoints = 120
  for (let i = 0; i < endpoints; i++) {
    const headers = { authorization: `Bearer of the receiver ${i}` }
    await first.endpoints.create('default', { id: `shop-${i}`, request: { url, headers }, events: [`order.${i}`] })
    const plugin = { name: 'standard-webhooks', endpoint_id: `shop-${i}`, config: { secrets: [whsec] } } as const
    await first.plugins.create('default', plugin)
  }
  let steps = 0
  const dying: Storage = {
    ...storage,
    async applyConfig(plan, from) {
      if (++steps > 1) throw new Error('the process is gone')
      return await storage.applyConfig(plan, from)
    },
  }
  const second = open(storage, [next, old], startAt)
  const third = open(dying, [next, old], startAt)
  let going = true
  const traffic = async (posthorn: TestPosthorn) => {
    for (let i = 0; going; i++) {
      await posthorn.events.create('default', { event_type: `order.${i % endpoints}`, data: {} })
      await posthorn.tick()
    }
  }
  const both = [traffic(first), traffic(second)]
  await expect(third.secrets.reseal()).rejects.toThrow('the process is gone')
  expect((await second.secrets.status()).keys).toHaveLength(2)
  expect(await second.secrets.reseal()).toMatchObject({ left: 0, problems: [] })
  going = false
  await Promise.all(both)
  expect((await second.secrets.status()).keys).toEqual([{ id: '2026-12', values: 2 * endpoints, known: true }])
  const deliveries = [...first.deliveries, ...second.deliveries]
  expect(deliveries.length).toBeGreaterThan(2)
  expect(deliveries.every((each) => takes(whsec, each) && each.headers['authorization']?.startsWith('Bearer of'))).toBe(
    true,
  )
  const { data } = await second.attempts.list('default', { status: 'FAILED' })
  expect(data).toEqual([])
})
