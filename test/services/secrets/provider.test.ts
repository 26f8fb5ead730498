import { describe, expect, test } from 'vitest'

import { memory } from '../../../adapters/memory/index.ts'
import type { Storage } from '../../../src/contracts/storage.ts'
import { createTestPosthorn } from '../../../src/testing/test-posthorn.ts'
import { memoryLog } from '../../http/api.ts'
import { keyNamed, storedText, testProvider, whsec } from './keys.ts'

const url = 'https://shop.test/hooks'

function open(storage: Storage, secrets: object) {
  return createTestPosthorn({ storage, logger: memoryLog(), secrets })
}
type Posthorn = ReturnType<typeof open>

/** An endpoint with a secret header and two plugins with a secret each. */
async function shop(posthorn: Posthorn, workspace = 'default') {
  const headers = { Authorization: 'Bearer of the shop, a long one' }
  const input = {
    request: { url: `${url}/${workspace}`, headers },
    events: ['*'],
    retry: { config: { attempts: [0] } },
  }
  const { id } = await posthorn.endpoints.create(workspace, input)
  await posthorn.plugins.create(workspace, { name: 'standard-webhooks', endpoint_id: id, config: { secrets: [whsec] } })
  await posthorn.plugins.create(workspace, { name: 'webhookx-signature', endpoint_id: id })
  return id
}

const publish = (posthorn: Posthorn, workspace = 'default') =>
  posthorn.events.create(workspace, { event_type: 'order.paid', data: {} })

describe('a key provider', () => {
  test('is asked once for a workspace and process, whatever is sealed and opened', async () => {
    const storage = memory()
    const one = testProvider()
    const posthorn = open(storage, { provider: one.provider })
    await posthorn.workspaces.create({ id: 'other' })
    await Promise.all([shop(posthorn), shop(posthorn), shop(posthorn, 'other')])
    for (let i = 0; i < 3; i++) await publish(posthorn)
    await posthorn.drain()
    expect(posthorn.deliveries).toHaveLength(6)
    expect(one.calls.toSorted()).toEqual(['wrap default', 'wrap other'])
    expect(await storedText(storage)).toContain('sealed:v1:provider:')

    // Another process opens with one call, and seals with the data key that is there.
    const two = testProvider()
    const later = open(storage, { provider: two.provider })
    await Promise.all([1, 2, 3, 4].map(() => publish(later)))
    await later.drain()
    await shop(later)
    await later.plugins.list('default')
    expect(later.deliveries).toHaveLength(8)
    expect(two.calls).toEqual(['unwrap default'])
  })

  test('that seals first in a new process uses the data key of the workspace again', async () => {
    const storage = memory()
    await shop(open(storage, { provider: testProvider().provider }))
    const two = testProvider()
    await shop(open(storage, { provider: two.provider }))
    expect(two.calls).toEqual(['unwrap default'])
  })

  test('that fails fails the deliveries of its workspace alone, and is asked again', async () => {
    const storage = memory()
    const first = open(storage, { provider: testProvider().provider })
    await first.workspaces.create({ id: 'other' })
    await shop(first)
    await shop(first, 'other')

    const kms = testProvider()
    kms.answers(async (bytes, workspace) => {
      if (workspace === 'default') throw new Error('access denied')
      return kms.turned(bytes)
    })
    const posthorn = open(storage, { provider: kms.provider })
    await publish(posthorn)
    await publish(posthorn, 'other')
    await posthorn.drain()
    expect(posthorn.deliveries.map((delivery) => delivery.url)).toEqual([`${url}/other`])
    const [attempt] = (await posthorn.attempts.list('default')).data
    expect(attempt).toMatchObject({
      error_code: 'PLUGIN_ERROR',
      error_message: 'the key provider did not unwrap the data key of the workspace',
    })
    const shown = JSON.stringify((await posthorn.plugins.list('default')).data)
    expect(shown).toContain('sealed:v1:provider:…')

    kms.works()
    await publish(posthorn)
    await posthorn.drain()
    expect(posthorn.deliveries.at(-1)?.url).toBe(`${url}/default`)
    expect(posthorn.deliveries.at(-1)?.headers['webhook-signature']).toMatch(/^v1,/)
  })

  test('that does not answer is given up after five seconds, and nobody else waits meanwhile', async () => {
    const storage = memory()
    const first = open(storage, { provider: testProvider().provider })
    await first.workspaces.create({ id: 'other' })
    await shop(first)
    await shop(first, 'other')

    const kms = testProvider()
    kms.answers((bytes, workspace) =>
      workspace === 'default' ? new Promise(() => {}) : Promise.resolve(kms.turned(bytes)),
    )
    const posthorn = open(storage, { provider: kms.provider })
    for (let i = 0; i < 5; i++) await publish(posthorn)
    await publish(posthorn, 'other')
    const settled: number[] = []
    const since = posthorn.clock.now()
    posthorn.on('attempt', ({ workspace_id }) => {
      if (workspace_id === 'default') settled.push(posthorn.clock.now() - since)
    })
    const delivered = new Promise<void>((resolve) =>
      posthorn.on('attempt', ({ workspace_id }) => (workspace_id === 'other' ? resolve() : undefined)),
    )
    await posthorn.start()
    await delivered
    expect(settled).toEqual([])
    // The endpoint counts as slow when its first try takes long, and stays so while nothing is sent to it: five times five seconds.
    const waits = { timeout: 20_000, interval: 5 }
    await expect.poll(() => posthorn.clock.advance(1000).then(() => settled.length), waits).toBe(5)
    expect(Math.min(...settled)).toBeGreaterThanOrEqual(5000)
    const { data } = await posthorn.attempts.list('default')
    expect(new Set(data.map(({ error_code }) => error_code))).toEqual(new Set(['PLUGIN_ERROR']))
    await posthorn.stop()
  })

  test('opens beside keys, which open what they sealed before', async () => {
    const storage = memory()
    const key = keyNamed('2026-11')
    await shop(open(storage, { keys: [key] }))
    const kms = testProvider()
    const posthorn = open(storage, { keys: [key], provider: { ...kms.provider, id: 'kms' } })
    await shop(posthorn)
    await publish(posthorn)
    await posthorn.drain()
    expect(posthorn.deliveries).toHaveLength(2)
    const stored = await storedText(storage)
    expect(stored).toContain('sealed:v1:kms:')
    expect(stored).toContain('sealed:v1:2026-11:')
  })
})
