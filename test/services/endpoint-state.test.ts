import { expect, test } from 'vitest'

import type { Options } from '../../src/options.ts'
import type { Endpoint } from '../../src/schema/endpoint.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { onEveryEngine } from '../support/engines.ts'

const url = 'https://shop.test/hooks'
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const isOn = { enabled: true, disabled_at: null, disabled_reason: null, disabled_detail: null }

onEveryEngine((fresh) => {
  async function started(options: Options = {}) {
    const storage = await fresh()
    const posthorn = createTestPosthorn({ logger: silent, ...options, storage })
    const input = { id: 'shop', request: { url }, events: ['*'], retry: { config: { attempts: [0] } } }
    const made = await posthorn.endpoints.create('default', input)
    const state = () => posthorn.endpoints.get('default', 'shop')
    return { storage, posthorn, made, state }
  }

  test('an endpoint tells why it is off, and turning it on clears that', async () => {
    const { posthorn, made, state } = await started()
    expect(made).toMatchObject({ ...isOn, paused: false })
    expect(Object.keys(made).slice(-4)).toEqual(['disabled_at', 'disabled_reason', 'disabled_detail', 'paused'])

    const off = await posthorn.endpoints.update('default', 'shop', { enabled: false })
    expect(off).toMatchObject({ enabled: false, disabled_at: off.updated_at, disabled_reason: 'manual' })
    expect(off.disabled_detail).toMatch(/^[A-Z].*\.$/)
    await posthorn.advance('1m')
    const renamed = await posthorn.endpoints.update('default', 'shop', { name: 'x' })
    expect(renamed).toMatchObject({ disabled_at: off.disabled_at, disabled_reason: 'manual' })
    expect(await posthorn.endpoints.update('default', 'shop', { enabled: true })).toMatchObject(isOn)

    posthorn.receiver(url).answers(410)
    await posthorn.events.create('default', { event_type: 'x', data: {} })
    await posthorn.drain()
    const gone = await state()
    expect(gone).toMatchObject({ enabled: false, disabled_at: posthorn.clock.now(), disabled_reason: 'gone' })
    expect(gone.disabled_detail).toContain('410')
    expect((await posthorn.endpoints.list('default')).data).toEqual([gone])
    // A write that leaves it off keeps the reason.
    expect(await posthorn.endpoints.update('default', 'shop', { name: 'y' })).toMatchObject({ disabled_reason: 'gone' })
    expect(await posthorn.endpoints.update('default', 'shop', { enabled: true })).toMatchObject(isOn)
    expect(await state()).toMatchObject(isOn)
  })

  test('the answer to the write that turns an endpoint on tells since when it missed events, which a replay sends', async () => {
    const { posthorn, made, state } = await started()
    expect(made).not.toHaveProperty('missed_since')
    const off = await posthorn.endpoints.patch('default', 'shop', { enabled: false })
    expect(off).not.toHaveProperty('missed_since')
    await posthorn.advance('1m')
    const { id } = await posthorn.events.create('default', { event_type: 'x', data: {} })
    await posthorn.advance('1m')
    const on = await posthorn.endpoints.patch('default', 'shop', { enabled: true, name: 'x' })
    expect(on).toMatchObject({ ...isOn, missed_since: off.disabled_at })
    expect(await state()).not.toHaveProperty('missed_since')
    // Written back it changes nothing, and stands in no further answer.
    expect(await posthorn.endpoints.update('default', 'shop', on)).not.toHaveProperty('missed_since')
    expect(await state()).not.toHaveProperty('missed_since')
    const missing = { missing: true, endpoint_id: 'shop', created_at: { gte: on.missed_since! } }
    expect(await posthorn.events.replay('default', missing)).toMatchObject({ matched: 1, created: 1 })
    await posthorn.drain()
    expect((await posthorn.deliveries.list('default')).data).toMatchObject([{ event_id: id, status: 'DELIVERED' }])
    const answer = await posthorn.admin.fetch(
      new Request('http://admin.test/endpoints/shop', { method: 'PUT', body: JSON.stringify({ enabled: false }) }),
    )
    expect(await answer.json()).not.toHaveProperty('missed_since')
  })

  test('what only Posthorn writes is ignored, and a dump that is synced back changes nothing', async () => {
    const { posthorn, made } = await started()
    await posthorn.endpoints.update('default', 'shop', { enabled: false })
    const forged = { disabled_at: 1, disabled_reason: 'gone', disabled_detail: 'no' } as object
    expect(await posthorn.endpoints.update('default', 'shop', forged)).toMatchObject({ disabled_reason: 'manual' })
    await posthorn.endpoints.create('default', { ...made, ...forged, id: 'other', name: null, paused: true })
    expect(await posthorn.endpoints.get('default', 'other')).toMatchObject({ ...isOn, paused: true })
    const wrong = { disabled_reason: 1 } as object
    await expect(posthorn.endpoints.update('default', 'shop', wrong)).rejects.toMatchObject({
      fields: { disabled_reason: 'value must be a string' },
    })

    const document = await posthorn.config.dump('default')
    expect(JSON.stringify(document)).not.toContain('disabled')
    expect(document.endpoints).toMatchObject([{ id: 'other', paused: true }, { id: 'shop' }])
    expect(document.endpoints?.[1]).not.toHaveProperty('paused')
    const before = (await posthorn.endpoints.list('default')).data
    await posthorn.advance('1m')
    expect((await posthorn.config.sync('default', document)).endpoints).toMatchObject({ unchanged: 2, updated: 0 })
    expect((await posthorn.endpoints.list('default')).data).toEqual(before)
    await posthorn.config.sync('default', { endpoints: [{ ...document.endpoints![1]!, enabled: true }] })
    expect(await posthorn.endpoints.get('default', 'shop')).toMatchObject(isOn)
  })

  test('a row of the version before, which lacks the members, is read with their defaults', async () => {
    const { storage, posthorn, made } = await started()
    if (storage.name === 'memory') return // keeps nothing that another version wrote
    const { disabled_at: _at, disabled_reason: _reason, disabled_detail: _detail, paused: _paused, ...old } = made
    const { jitter: _jitter, ...config } = made.retry.config
    const row = { ...old, id: 'old', retry: { strategy: 'fixed', config } } as unknown as Endpoint
    expect(await storage.endpoints.insert('default', row)).toBe('written')
    expect(await posthorn.endpoints.get('default', 'old')).toEqual({ ...made, id: 'old' })
    const document = await posthorn.config.dump('default')
    expect((await posthorn.config.sync('default', document)).endpoints).toMatchObject({ unchanged: 2 })
  })

  test('the circuit breaker tells how many attempts failed', async () => {
    const { posthorn, state } = await started({ breaker: { minimum: 2 } })
    posthorn.receiver(url).answers(500)
    for (let n = 0; n < 3; n++) await posthorn.events.create('default', { event_type: 'x', data: {} })
    await posthorn.drain()
    await posthorn.advance('1m')
    expect(await state()).toMatchObject({
      enabled: false,
      disabled_reason: 'breaker',
      disabled_detail: '3 of 3 attempts within 3600 seconds failed.',
    })
  })
})
