import * as v from 'valibot'
import { describe, expect, test } from 'vitest'

import { memory } from '../../../adapters/memory/index.ts'
import { definePlugin } from '../../../src/contracts/plugin.ts'
import type { Storage } from '../../../src/contracts/storage.ts'
import { createTestPosthorn, type TestPosthornOptions } from '../../../src/testing/test-posthorn.ts'
import { memoryLog } from '../../http/api.ts'
import { onEveryEngine } from '../../support/engines.ts'
import { keyNamed, storedText, whsec } from './keys.ts'

const url = 'https://shop.test/hooks'
const bearer = 'Bearer endpoint-authorization-7f3a'
const a = keyNamed('2026-11', 1)
const b = keyNamed('2026-12', 2)

function open(storage: Storage, options: TestPosthornOptions = { secrets: { keys: [a] } }) {
  return createTestPosthorn({ logger: memoryLog(), ...options, storage })
}

/** An endpoint with a secret header and a signature. */
async function shop(posthorn: ReturnType<typeof open>) {
  const endpoint = await posthorn.endpoints.create('default', {
    id: 'shop',
    request: { url, headers: { Authorization: bearer, 'X-Id': 'shop' } },
    events: ['*'],
    retry: { config: { attempts: [0] } },
  })
  const plugin = await posthorn.plugins.create('default', {
    name: 'standard-webhooks',
    endpoint_id: 'shop',
    config: { secrets: [whsec] },
  })
  return { endpoint, plugin }
}

const publish = (posthorn: ReturnType<typeof open>) =>
  posthorn.events.create('default', { event_type: 'order.paid', data: {} })

onEveryEngine((fresh) => {
  test('secrets are sealed at rest, masked in reads, and clear in the create answer and in deliveries', async () => {
    const storage = await fresh()
    const posthorn = open(storage)
    const { endpoint, plugin } = await shop(posthorn)
    expect(endpoint.request.headers).toEqual({ Authorization: bearer, 'X-Id': 'shop' })
    expect(plugin.config['secrets']).toEqual([whsec])

    const stored = await storedText(storage)
    expect(stored).not.toContain(bearer)
    expect(stored).not.toContain(whsec)
    expect(stored.match(/sealed:v1:2026-11:/g)).toHaveLength(2)
    expect(stored).toContain('"X-Id":"shop"')

    const shownHeaders = { Authorization: 'Bearer …7f3a', 'X-Id': 'shop' }
    expect((await posthorn.endpoints.get('default', 'shop')).request.headers).toEqual(shownHeaders)
    expect((await posthorn.endpoints.list('default')).data[0]?.request.headers).toEqual(shownHeaders)
    expect((await posthorn.plugins.get('default', plugin.id)).config['secrets']).toEqual(['whsec_…HBwc'])
    expect((await posthorn.plugins.list('default')).data[0]?.config['secrets']).toEqual(['whsec_…HBwc'])

    await publish(posthorn)
    await posthorn.drain()
    const [delivery] = posthorn.deliveries
    expect(delivery?.headers['authorization']).toBe(bearer)
    expect(delivery?.headers['webhook-signature']).toMatch(/^v1,/)

    // Another process opens them, and one without keys of theirs does not.
    const other = open(storage)
    await publish(other)
    await other.drain()
    expect(other.deliveries[0]?.headers['authorization']).toBe(bearer)
  })

  test('masks that are written back change nothing, and other fields beside them do', async () => {
    const storage = await fresh()
    const posthorn = open(storage)
    const { plugin } = await shop(posthorn)
    const before = await storage.plugins.get('default', plugin.id)
    const shown = await posthorn.plugins.get('default', plugin.id)
    await posthorn.plugins.update('default', plugin.id, { ...shown, config: { ...shown.config, envelope: true } })
    const after = await storage.plugins.get('default', plugin.id)
    expect(after?.row.config).toEqual({ ...before?.row.config, envelope: true })

    const { request } = await posthorn.endpoints.get('default', 'shop')
    const headers = { ...request.headers, 'X-Id': 'changed' }
    const updated = await posthorn.endpoints.update('default', 'shop', { request: { ...request, headers } })
    expect(updated.request.headers).toEqual({ Authorization: 'Bearer …7f3a', 'X-Id': 'changed' })
    await publish(posthorn)
    await posthorn.drain()
    expect(posthorn.deliveries[0]?.headers).toMatchObject({ authorization: bearer, 'x-id': 'changed' })
  })

  test('dumps in clear, masked and sealed sync back to no change', async () => {
    const storage = await fresh()
    const posthorn = open(storage)
    await shop(posthorn)
    await posthorn.sources.create('default', { id: 'in', config: { http: { path: '/in' } } })
    const config = { username: 'shop', password: 'short' }
    await posthorn.plugins.create('default', { name: 'basic-auth', source_id: 'in', config })
    const before = await storedText(storage)
    const dumps = await Promise.all(
      ([undefined, 'clear', 'masked', 'sealed'] as const).map((secrets) =>
        posthorn.config.dump('default', { secrets }),
      ),
    )
    const [masked, clear, alsoMasked, sealed] = dumps.map((dump) => JSON.stringify(dump))
    expect(masked).toBe(alsoMasked)
    expect(clear).toContain(whsec)
    expect(clear).toContain(bearer)
    expect(masked).toContain('"password":"…"')
    expect([masked, sealed].filter((text) => text?.includes(whsec) || text?.includes(bearer))).toEqual([])
    expect(sealed).toContain('sealed:v1:2026-11:')
    const unchanged = { created: 0, updated: 0, deleted: 0, unchanged: 1 }
    for (const dump of dumps) {
      const report = await posthorn.config.sync('default', dump)
      expect(report).toMatchObject({
        endpoints: unchanged,
        sources: unchanged,
        plugins: { ...unchanged, unchanged: 2 },
      })
    }
    expect(await storedText(storage)).toBe(before)
  })
})

describe('without the option', () => {
  test('rows are stored and shown as they are, and a start says so once at info', async () => {
    const storage = memory()
    const log = memoryLog()
    const posthorn = open(storage, { logger: log })
    const { plugin } = await shop(posthorn)
    expect(await storedText(storage)).toContain(whsec)
    expect((await posthorn.plugins.get('default', plugin.id)).config['secrets']).toEqual([whsec])
    expect(JSON.stringify(await posthorn.config.dump('default'))).toContain(bearer)
    await posthorn.start()
    await posthorn.stop()
    expect(log.lines.filter(({ message }) => message.includes('secrets are stored as they are'))).toHaveLength(1)
    expect(log.lines.find(({ message }) => message.includes('secrets are'))?.level).toBe('info')
    const masked = posthorn.config.dump('default', { secrets: 'masked' })
    await expect(masked).rejects.toMatchObject({ code: 'validation' })
  })

  test('with the option a start says nothing', async () => {
    const log = memoryLog()
    const posthorn = open(memory(), { logger: log, secrets: { keys: [a] } })
    await posthorn.start()
    await posthorn.stop()
    expect(log.lines.map(({ message }) => message).filter((message) => message.includes('secret'))).toEqual([])
  })

  test.each([
    [{}, 'keys or provider is required'],
    [{ keys: [] }, 'keys or provider is required'],
    [{ keys: [{ id: 'a', key: 'c2hvcnQ=' }] }, 'value must be 32 bytes in base64'],
    [{ keys: [{ ...a, id: 'a b' }] }, 'value must match'],
    [{ keys: [a, a] }, 'ids of keys must differ'],
    [{ keys: [{ ...a, id: 'provider' }], provider: { wrap() {}, unwrap() {} } }, 'ids of keys must differ'],
    [{ provider: {} }, 'provider'],
  ])('the option %j is refused', (secrets, reason) => {
    expect(() => open(memory(), { secrets: secrets as never })).toThrow(reason)
  })
})

describe('a value whose key is missing', () => {
  test.each([
    ['another key', { secrets: { keys: [b] } }],
    ['no option', {}],
  ])('%s: the row lists, its deliveries fail and name the key, and nothing is lost', async (_name, options) => {
    const storage = memory()
    const { plugin } = await shop(open(storage))
    const before = await storedText(storage)
    const posthorn = open(storage, options)
    const listed = (await posthorn.plugins.list('default')).data[0]
    expect(JSON.stringify(listed?.config)).toContain('sealed:v1:2026-11:')
    await publish(posthorn)
    await posthorn.drain()
    const [attempt] = (await posthorn.attempts.list('default')).data
    expect(attempt).toMatchObject({ error_code: 'PLUGIN_ERROR', status: 'FAILED' })
    expect(attempt?.error_message).toBe("a secret is sealed with key '2026-11', which this process does not have")
    expect(posthorn.deliveries).toHaveLength(0)
    expect(await storedText(storage)).toBe(before)

    // The row can be switched off and on meanwhile, and with the key all is as it was.
    const shown = await posthorn.plugins.get('default', plugin.id)
    await posthorn.plugins.update('default', plugin.id, { ...shown, enabled: false })
    await posthorn.plugins.update('default', plugin.id, { enabled: true })
    const mended = open(storage, { secrets: { keys: [b, a] } })
    await publish(mended)
    await mended.drain()
    expect(mended.deliveries[0]?.headers['webhook-signature']).toMatch(/^v1,/)
  })

  test('a plugin alone says so too, and a change beside the value is refused at its place', async () => {
    const storage = memory()
    const { plugin } = await shop(open(storage))
    const posthorn = open(storage, { secrets: { keys: [b] } })
    const { config } = await posthorn.plugins.get('default', plugin.id)
    const change = posthorn.plugins.update('default', plugin.id, { config: { ...config, envelope: true } })
    await expect(change).rejects.toMatchObject({
      fields: { config: { secrets: ["the stored secret cannot be opened: it is sealed with key '2026-11'"] } },
    })
    await posthorn.plugins.update('default', plugin.id, { config: { secrets: [whsec] } })
    expect(await storedText(storage)).toContain('sealed:v1:2026-12:')
    const dump = posthorn.config.dump('default', { secrets: 'clear' })
    await expect(dump).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('2026-11') })
  })

  test('a masked dump syncs back to no change', async () => {
    const storage = memory()
    await shop(open(storage))
    const before = await storedText(storage)
    const posthorn = open(storage, { secrets: { keys: [b] } })
    const report = await posthorn.config.sync('default', await posthorn.config.dump('default'))
    expect(report).toMatchObject({ endpoints: { unchanged: 1 }, plugins: { unchanged: 1 } })
    expect(await storedText(storage)).toBe(before)
    // A mask of the time without the key means the same when the key is there.
    const dumped = await posthorn.config.dump('default')
    expect(await open(storage).config.sync('default', dumped)).toMatchObject({ plugins: { unchanged: 1 } })
  })
})

describe('what is refused', () => {
  const refused = (fields: unknown) => expect.objectContaining({ code: 'validation', fields })

  test('a mask that fits no stored secret, at its place', async () => {
    const posthorn = open(memory())
    await shop(posthorn)
    const rule = 'value is a mask that fits no stored secret: write the secret itself'
    const headers = { authorization: 'Bearer …abcd' }
    await expect(posthorn.endpoints.create('default', { request: { url, headers } })).rejects.toEqual(
      refused({ request: { headers: { authorization: rule } } }),
    )
    const document = {
      endpoints: [
        { id: 'shop', request: { url, headers }, plugins: [{ name: 'standard-webhooks', config: { secrets: ['…'] } }] },
      ],
    }
    await expect(posthorn.config.sync('default', document)).rejects.toEqual(
      refused({
        endpoints: [{ request: { headers: { authorization: rule } }, plugins: [{ config: { secrets: [rule] } }] }],
      }),
    )
  })

  test('a mask that fits two secrets elsewhere in the list', async () => {
    const kind = definePlugin({
      name: 'two',
      sides: ['outbound'],
      secrets: ['keys[]'],
      config: v.object({ keys: v.array(v.string()) }),
      prepare: () => ({}),
    })
    const posthorn = open(memory(), { plugins: [kind], secrets: { keys: [a] } })
    await shop(posthorn)
    const { id } = await posthorn.plugins.create('default', {
      name: 'two',
      endpoint_id: 'shop',
      config: { keys: ['one', 'two'] },
    })
    await expect(posthorn.plugins.update('default', id, { config: { keys: ['new', 'x', '…'] } })).rejects.toEqual(
      refused({ config: { keys: [null, null, expect.stringContaining('several stored secrets')] } }),
    )
    await posthorn.plugins.update('default', id, { config: { keys: ['…', 'x'] } })
    const dump = JSON.stringify(await posthorn.config.dump('default', { secrets: 'clear' }))
    expect(dump).toContain('["one","x"]')
  })

  test('a sealed value of another row, field or workspace', async () => {
    const storage = memory()
    const posthorn = open(storage)
    await shop(posthorn)
    const { row } = (await storage.endpoints.get('default', 'shop'))!
    const stolen = row.request.headers!['Authorization']!
    const elsewhere = 'a sealed secret was made for another place, or is damaged'
    for (const [id, name] of [
      ['other', 'Authorization'],
      ['shop', 'x-api-key'],
    ] as const) {
      const headers = { [name]: stolen }
      const written =
        id === 'shop'
          ? posthorn.endpoints.update('default', id, { request: { url, headers } })
          : posthorn.endpoints.create('default', { id, request: { url, headers } })
      await expect(written).rejects.toEqual(refused({ request: { headers: { [name]: elsewhere } } }))
    }
    const { id } = await posthorn.workspaces.create({ name: 'other' })
    const headers = { Authorization: stolen }
    const written = posthorn.endpoints.create(id, { id: 'shop2', request: { url, headers } })
    await expect(written).rejects.toMatchObject({ code: 'validation' })

    // Whoever writes to the store itself gains nothing either.
    const copy = { ...row, id: 'copy', name: null }
    await storage.endpoints.insert('default', copy)
    const again = open(storage)
    await again.endpoints.update('default', 'shop', { enabled: false })
    await publish(again)
    await again.drain()
    expect(again.deliveries).toHaveLength(0)
    const [attempt] = (await again.attempts.list('default')).data
    expect(attempt).toMatchObject({ error_code: 'PLUGIN_ERROR', error_message: elsewhere })
  })
})

test('a custom plugin names its secrets, and gets them in clear', async () => {
  const seen: unknown[] = []
  const kind = definePlugin({
    name: 'token',
    sides: ['outbound'],
    secrets: ['auth.token'],
    config: v.object({ auth: v.object({ token: v.string(), user: v.string() }) }),
    prepare: (config) => {
      seen.push(config)
      return {}
    },
  })
  const storage = memory()
  const posthorn = open(storage, { plugins: [kind], secrets: { keys: [a] } })
  await shop(posthorn)
  const config = { auth: { token: 'a token of the custom plugin', user: 'shop' } }
  await posthorn.plugins.create('default', { name: 'token', endpoint_id: 'shop', config })
  expect(await storedText(storage)).not.toContain('a token of')
  await publish(posthorn)
  await posthorn.drain()
  expect(seen).toEqual([config])
})

test('under deliver.sign a new endpoint has a sealed secret, in a sync too', async () => {
  const storage = memory()
  const posthorn = open(storage, { secrets: { keys: [a] }, deliver: { sign: 'standard-webhooks' } })
  await posthorn.endpoints.create('default', { id: 'one', request: { url }, events: ['*'] })
  await posthorn.config.sync('default', {
    endpoints: [
      { id: 'one', request: { url } },
      { id: 'two', request: { url }, events: ['*'] },
    ],
  })
  const stored = await storedText(storage)
  expect(stored.match(/sealed:v1:/g)).toHaveLength(2)
  expect(stored).not.toContain('whsec_')
  await publish(posthorn)
  await posthorn.drain()
  expect(posthorn.deliveries.map(({ headers }) => headers['webhook-signature']?.slice(0, 3))).toEqual(['v1,'])
})

test('headers that deliver.secretHeaders names are sealed, and never recorded', async () => {
  const storage = memory()
  const posthorn = open(storage, { secrets: { keys: [a] }, deliver: { secretHeaders: ['X-Shop-Token'] } })
  const headers = { 'x-shop-token': 'a token of the shop', 'x-auth-token': 'not named here' }
  await posthorn.endpoints.create('default', { id: 'shop', request: { url, headers }, events: ['*'] })
  const stored = await storedText(storage)
  expect([stored.includes('a token of the shop'), stored.includes('not named here')]).toEqual([false, true])
  await publish(posthorn)
  await posthorn.drain()
  const [attempt] = (await posthorn.attempts.list('default')).data
  const { request } = await posthorn.attempts.get('default', attempt!.id)
  expect(request?.headers).toMatchObject({ 'x-shop-token': '***', 'x-auth-token': 'not named here' })
})
