import { describe, expect, test } from 'vitest'

import { memory } from '../../../adapters/memory/index.ts'
import type { Storage } from '../../../src/contracts/storage.ts'
import type { PluginInput } from '../../../src/schema/plugin.ts'
import { createTestPosthorn } from '../../../src/testing/test-posthorn.ts'
import { verifyWebhook } from '../../../src/verify.ts'
import { api, memoryLog } from '../../http/api.ts'
import { onEveryEngine } from '../../support/engines.ts'
import { keyNamed, storedText, whsec, whsk } from './keys.ts'

const url = 'https://shop.test/hooks'
const day = 86_400_000
const secrets = { keys: [keyNamed('2026-11')] }

async function shop(
  storage: Storage,
  signature: PluginInput = { name: 'standard-webhooks', config: { secrets: [whsec] } },
) {
  const posthorn = createTestPosthorn({ storage, logger: memoryLog(), secrets })
  await posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['*'] })
  await posthorn.plugins.create('default', { ...signature, endpoint_id: 'shop' })
  return posthorn
}
type Posthorn = Awaited<ReturnType<typeof shop>>

/** Publishes an event, and answers the signatures that its delivery carries. */
async function signatures(posthorn: Posthorn): Promise<readonly string[]> {
  await posthorn.events.create('default', { event_type: 'order.paid', data: {} })
  await posthorn.drain()
  return posthorn.deliveries.at(-1)?.headers['webhook-signature']?.split(' ') ?? []
}

onEveryEngine((fresh) => {
  test('a rotated secret signs beside the old one until the overlap ends, and the old one is removed', async () => {
    const storage = await fresh()
    const posthorn = await shop(storage)
    expect(await posthorn.endpoints.secret('default', 'shop')).toEqual({
      secret: whsec,
      secrets: [{ secret: whsec, expires_at: null }],
    })
    const ends = posthorn.clock.now() + day
    const answer = await posthorn.endpoints.rotateSecret('default', 'shop', { overlap_seconds: 86_400 })
    expect(answer.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(answer.secrets).toEqual([
      { secret: answer.secret, expires_at: null },
      { secret: whsec, expires_at: ends },
    ])
    expect(await posthorn.endpoints.secret('default', 'shop')).toEqual(answer)
    expect(await storedText(storage)).not.toContain('whsec_')
    expect(await signatures(posthorn)).toHaveLength(2)

    const { deliveries } = posthorn
    const receives = (secret: string) =>
      verifyWebhook(
        new Request(url, { method: 'POST', headers: deliveries.at(-1)!.headers, body: deliveries.at(-1)!.body }),
        secret,
        { toleranceSeconds: 1e9 },
      ).then(
        () => true,
        () => false,
      )
    expect([await receives(whsec), await receives(answer.secret)]).toEqual([true, true])

    await posthorn.clock.advance(day - 1)
    expect(await signatures(posthorn)).toHaveLength(2)
    await posthorn.clock.advance(1)
    expect(await signatures(posthorn)).toHaveLength(1)
    expect([await receives(whsec), await receives(answer.secret)]).toEqual([false, true])
    expect((await posthorn.endpoints.secret('default', 'shop')).secrets).toHaveLength(1)
    await posthorn.advance('1m')
    const [plugin] = (await posthorn.plugins.list('default')).data
    expect(plugin?.config['secrets']).toHaveLength(1)
  })
})

describe('a rotation', () => {
  test('removes what ended in a workspace that nobody delivers for, within the hour', async () => {
    const storage = memory()
    const posthorn = await shop(storage)
    await posthorn.endpoints.rotateSecret('default', 'shop', { overlap_seconds: 60 })
    const other = createTestPosthorn({ storage, secrets, startAt: posthorn.clock.now() + 3_600_000 })
    await other.tick()
    expect((await other.plugins.list('default')).data[0]?.config['secrets']).toHaveLength(1)
  })

  test('with an overlap of 0 ends the old secrets at once', async () => {
    const posthorn = await shop(memory())
    await posthorn.endpoints.rotateSecret('default', 'shop')
    const answer = await posthorn.endpoints.rotateSecret('default', 'shop', { overlap_seconds: 0 })
    expect(answer.secrets).toEqual([{ secret: answer.secret, expires_at: null }])
    expect(await signatures(posthorn)).toHaveLength(1)
  })

  test('never lengthens the life of a secret that is to end', async () => {
    const posthorn = await shop(memory())
    const now = posthorn.clock.now()
    await posthorn.endpoints.rotateSecret('default', 'shop', { overlap_seconds: 10 })
    const { secrets: all } = await posthorn.endpoints.rotateSecret('default', 'shop', { overlap_seconds: 20 })
    expect(all.map(({ expires_at }) => expires_at)).toEqual([null, now + 20_000, now + 10_000])
  })

  test('keeps at most five secrets alive', async () => {
    const posthorn = await shop(memory())
    for (let i = 0; i < 4; i++) await posthorn.endpoints.rotateSecret('default', 'shop')
    await expect(posthorn.endpoints.rotateSecret('default', 'shop')).rejects.toMatchObject({
      fields: { overlap_seconds: 'at most 5 secrets may be alive: wait, or pass 0' },
    })
    expect(await signatures(posthorn)).toHaveLength(5)
  })

  test('keeps the kind of key: Ed25519 stays Ed25519', async () => {
    const posthorn = await shop(memory(), { name: 'standard-webhooks', config: { secrets: [whsk] } })
    const { secret } = await posthorn.endpoints.rotateSecret('default', 'shop')
    expect(secret).toMatch(/^whsk_[A-Za-z0-9+/]{86}==$/)
    expect((await signatures(posthorn)).map((each) => each.slice(0, 4))).toEqual(['v1a,', 'v1a,'])
    const { headers, body } = posthorn.deliveries.at(-1)!
    const publicKey = `whpk_${Buffer.from(secret.slice(5), 'base64').subarray(32).toString('base64')}`
    const request = new Request(url, { method: 'POST', headers, body })
    expect(await verifyWebhook(request, publicKey, { toleranceSeconds: 1e9 })).toEqual({})
    const wrong = posthorn.endpoints.rotateSecret('default', 'shop', { secret: whsec })
    await expect(wrong).rejects.toMatchObject({ fields: { secret: expect.stringContaining('whsk_') } })
  })

  test('takes a secret of the caller, checked as the plugin checks it', async () => {
    const posthorn = await shop(memory())
    const own = `whsec_${Buffer.alloc(24, 3).toString('base64')}`
    expect((await posthorn.endpoints.rotateSecret('default', 'shop', { secret: own })).secret).toBe(own)
    for (const secret of ['whsec_c2hvcnQ=', 'x', '', whsk]) {
      const refused = posthorn.endpoints.rotateSecret('default', 'shop', { secret })
      await expect(refused).rejects.toMatchObject({ code: 'validation', fields: { secret: expect.any(String) } })
    }
  })

  test('of webhookx-signature, which holds one secret, has no overlap', async () => {
    const posthorn = await shop(memory(), { name: 'webhookx-signature' })
    const before = await posthorn.endpoints.secret('default', 'shop')
    await expect(posthorn.endpoints.rotateSecret('default', 'shop')).rejects.toMatchObject({
      fields: { overlap_seconds: 'value must be 0: webhookx-signature holds one secret' },
    })
    const after = await posthorn.endpoints.rotateSecret('default', 'shop', { overlap_seconds: 0 })
    expect(after.secret).toMatch(/^[A-Za-z0-9]{32}$/)
    expect(after.secret).not.toBe(before.secret)
    expect(await posthorn.endpoints.secret('default', 'shop')).toEqual(after)
  })

  test('needs a signature plugin, over HTTP too', async () => {
    const { call, made } = api({ secrets })
    const { id } = await made('/endpoints', { request: { url } })
    const none = { message: 'the endpoint has no signature plugin' }
    expect(await call('GET', `/endpoints/${id}/secret`)).toMatchObject({ status: 400, body: none })
    expect(await call('POST', `/endpoints/${id}/secret/rotate`)).toMatchObject({ status: 400, body: none })
    expect(await call('GET', '/endpoints/nobody/secret')).toMatchObject({ status: 404 })
    expect(await call('POST', '/endpoints/nobody/secret/rotate', {})).toMatchObject({ status: 404 })
    const plugin = await made('/plugins', { name: 'standard-webhooks', endpoint_id: id })
    const shown = await call('GET', `/endpoints/${id}/secret`)
    expect(shown.body.secret).toBe(plugin.config.secrets[0])
    const rotated = await call('POST', `/endpoints/${id}/secret/rotate`)
    expect(rotated.body.secrets).toHaveLength(2)
    expect((await call('POST', '/config/dump?secrets=clear')).text).toContain(rotated.body.secret)
    expect((await call('POST', '/config/dump')).text).not.toContain(rotated.body.secret)
    expect(await call('POST', '/config/dump?secrets=plain')).toMatchObject({ status: 400 })
  })

  test('is authorized as operations of its own', async () => {
    const asked: string[] = []
    const { call, made } = api({ secrets, admin: { authorize: (_, { operation }) => asked.push(operation) > 0 } })
    const { id } = await made('/endpoints', { request: { url } })
    await call('GET', `/endpoints/${id}/secret`)
    await call('POST', `/endpoints/${id}/secret/rotate`)
    expect(asked).toEqual(['endpoints.create', 'endpoints.secret', 'endpoints.rotateSecret'])
  })

  test('one secret of a config must stay', async () => {
    const posthorn = createTestPosthorn({ logger: memoryLog() })
    await posthorn.endpoints.create('default', { id: 'shop', request: { url } })
    const create = (list: readonly (string | { secret: string; expires_at: number | null })[]) =>
      posthorn.plugins.create('default', { name: 'standard-webhooks', endpoint_id: 'shop', config: { secrets: list } })
    await expect(create([{ secret: whsec, expires_at: 5 }])).rejects.toMatchObject({
      fields: { config: { secrets: 'one secret must have no expires_at' } },
    })
    const { config } = await create([
      { secret: whsec, expires_at: null },
      { secret: whsk, expires_at: 5 },
    ])
    expect(config['secrets']).toEqual([whsec, { secret: whsk, expires_at: 5 }])
  })
})
