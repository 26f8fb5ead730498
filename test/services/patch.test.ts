import { expect, test } from 'vitest'

import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { onEveryEngine } from '../support/engines.ts'

const request = { url: 'https://shop.test/hooks', headers: { 'x-a': '1', authorization: 'Bearer secret' } }
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const key = Buffer.alloc(32, 7).toString('base64')

onEveryEngine((fresh) => {
  async function started() {
    const posthorn = createTestPosthorn({
      logger: silent,
      storage: await fresh(),
      secrets: { keys: [{ id: 'k', key }] },
    })
    await posthorn.endpoints.create('default', { id: 'e', request, events: ['a'], metadata: { team: 'x' } })
    return posthorn
  }

  test('a patch changes what it names at any depth, and null brings the default back', async () => {
    const posthorn = await started()
    const patched = await posthorn.endpoints.patch('default', 'e', {
      name: 'shop',
      request: { method: 'PUT', headers: { 'x-a': null, 'x-b': '2' } },
      metadata: { team: null, tier: 'gold' },
      retry: { config: { attempts: [0, 5] } },
    })
    expect(patched).toMatchObject({
      name: 'shop',
      events: ['a'],
      request: { url: request.url, method: 'PUT', timeout: 10_000 },
      metadata: { tier: 'gold' },
      retry: { config: { attempts: [0, 5], jitter: 0 } },
    })
    expect(Object.keys(patched.request.headers ?? {})).toEqual(['authorization', 'x-b'])
    const back = await posthorn.endpoints.patch('default', 'e', { retry: null, events: null, metadata: null })
    expect(back).toMatchObject({ events: [], metadata: {}, retry: { config: { attempts: [0, 60, 3600] } } })
    await expect(posthorn.endpoints.patch('default', 'e', { request: { url: null } })).rejects.toMatchObject({
      fields: { request: { url: 'required field missing' } },
    })
    await expect(posthorn.endpoints.patch('default', 'none', {})).rejects.toMatchObject({ code: 'not_found' })
  })

  test('a mask that is written back means that the secret stays', async () => {
    const posthorn = await started()
    const shown = await posthorn.endpoints.get('default', 'e')
    const mask = shown.request.headers?.['authorization']
    expect(mask).not.toContain('secret')
    await posthorn.endpoints.patch('default', 'e', { name: 'n', request: { headers: shown.request.headers } })
    const { endpoints } = await posthorn.config.dump('default', { secrets: 'clear' })
    expect(endpoints?.[0]?.request?.headers).toEqual(request.headers)
  })

  test('of 32 patches side by side each one holds', async () => {
    const posthorn = await started()
    await posthorn.sources.create('default', { id: 's', config: { http: { path: '/s' } } })
    const numbers = Array.from({ length: 32 }, (_, n) => n)
    await Promise.all([
      ...numbers.map((n) => posthorn.endpoints.patch('default', 'e', { metadata: { [`k${n}`]: String(n) } })),
      ...numbers.map((n) => posthorn.sources.patch('default', 's', { metadata: { [`k${n}`]: String(n) } })),
      ...numbers.map((n) => posthorn.workspaces.patch('default', { metadata: { [`k${n}`]: String(n) } })),
    ])
    const expected = Object.fromEntries(numbers.map((n) => [`k${n}`, String(n)]))
    expect((await posthorn.endpoints.get('default', 'e')).metadata).toEqual({ team: 'x', ...expected })
    expect((await posthorn.sources.get('default', 's')).metadata).toEqual(expected)
    expect((await posthorn.workspaces.get('default')).metadata).toEqual(expected)
  })

  test('PATCH over HTTP answers the row, and refuses what is no object', async () => {
    const posthorn = await started()
    const ask = async (path: string, body: string) => {
      const headers = { 'content-type': 'application/merge-patch+json' }
      const answer = await posthorn.admin.fetch(
        new Request(`http://admin.test${path}`, { method: 'PATCH', body, headers }),
      )
      return { status: answer.status, body: (await answer.json()) as { paused?: boolean; config?: unknown } }
    }
    expect(await ask('/endpoints/e', '{"paused":true}')).toMatchObject({ status: 200, body: { paused: true } })
    expect(await ask('/workspaces/default/endpoints/none', '{}')).toMatchObject({ status: 404 })
    expect(await ask('/endpoints/e', '[]')).toMatchObject({ status: 400 })
    expect(await ask('/endpoints/e', '{"request":{"url":7}}')).toMatchObject({ status: 400 })
  })
})
