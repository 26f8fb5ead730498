import { describe, expect, test } from 'vitest'

import { createPosthorn } from '../../adapters/node/index.ts'
import { type Fresh, onEveryEngine } from '../support/engines.ts'

/** The largest number that a client may name. */
const farthest = Number.MAX_SAFE_INTEGER
/** All characters that an id may have, ids of 64, and some that mean something elsewhere. */
const ids = [
  'ABCDEFGHIJKLMNOPQRSTUVWXYZ_:-0123456789abcdefghijklmnopqrstuvwxyz',
  'x'.repeat(64),
  ':',
  '-',
  '_',
  '0',
  '-1',
  '__proto__',
  'constructor',
  'event:1',
  'endpoint:e:queue',
].map((id) => id.slice(0, 64))

describe('at the edges of what is allowed, the administrative API answers the same', () => {
  onEveryEngine((fresh: Fresh) => {
    async function api() {
      const http = {
        send: async () => ({ kind: 'response', status: 200, headers: {}, body: '', ended: true }) as const,
      }
      const posthorn = createPosthorn({ storage: await fresh(), http })
      const call = async (method: string, path: string, body?: object) => {
        const request = new Request(`http://admin.test${path}`, {
          method,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        const response = await posthorn.admin.fetch(request)
        const text = await response.text()
        const read: unknown = text === '' ? null : JSON.parse(text)
        return { status: response.status, body: read as Record<string, unknown> } // JSON objects, as documented
      }
      return { posthorn, call }
    }

    test.each([1, farthest, farthest - 1, 2 ** 32, 2 ** 31])('page %d of every list', async (page) => {
      const { posthorn, call } = await api()
      await posthorn.endpoints.create('default', { id: 'e', request: { url: 'https://a.test/' }, events: ['*'] })
      await posthorn.sources.create('default', { id: 's', config: { http: { path: '/s' } } })
      await posthorn.plugins.create('default', { name: 'webhookx-signature', endpoint_id: 'e', config: {} })
      await posthorn.events.create('default', { id: 'v', event_type: 'x', data: {} })
      await posthorn.drain()
      const filters = ['', '&enabled=true', '&sort=id.desc', '&status=SUCCESSFUL', '&created_at[gte]=0']
      for (const list of ['workspaces', 'endpoints', 'sources', 'plugins', 'events', 'attempts']) {
        for (const filter of filters) {
          for (const size of [1, 20, 1000]) {
            const path = `/${list}?page_no=${page}&page_size=${size}${filter}`
            const { status, body } = await call('GET', path)
            expect([path, status < 500]).toEqual([path, true])
            if (status !== 200) continue
            expect([path, (body['data'] as unknown[]).length]).toEqual([path, page === 1 ? 1 : 0])
          }
        }
      }
      await posthorn.stop()
    })

    test('ids of any allowed character, in every place of an id', async () => {
      const { posthorn, call } = await api()
      for (const id of ids) {
        const path = encodeURIComponent(id)
        const made = [
          await call('POST', '/endpoints', {
            id,
            request: { url: 'https://a.test/' },
            events: [`t${ids.indexOf(id)}`],
          }),
          await call('POST', '/sources', { id, config: { http: { path: `/${ids.indexOf(id)}` } } }),
          await call('POST', '/events', {
            id,
            event_type: `t${ids.indexOf(id)}`,
            data: {},
            unique_id: id.slice(0, 50),
          }),
          await call('POST', '/plugins', { id, name: 'webhookx-signature', endpoint_id: id, config: {} }),
        ]
        expect([id, ...made.map(({ status }) => status)]).toEqual([id, 201, 201, 201, 201])
        for (const noun of ['endpoints', 'sources', 'events', 'plugins']) {
          const { status, body } = await call('GET', `/${noun}/${path}`)
          expect([noun, status, body['id']]).toEqual([noun, 200, id])
          expect([noun, (await call('GET', `/${noun}?after=${path}&limit=5`)).status]).toEqual([noun, 200])
        }
      }
      await posthorn.drain()
      for (const id of ids) {
        const { status, body } = await call('GET', `/attempts?endpoint_id=${encodeURIComponent(id)}`)
        const [attempt] = body['data'] as { event_id: string; status: string }[]
        expect([id, status, attempt?.event_id, attempt?.status]).toEqual([id, 200, id, 'SUCCESSFUL'])
      }
      for (const id of ids) {
        const path = encodeURIComponent(id)
        expect((await call('DELETE', `/endpoints/${path}`)).status).toBe(204)
        expect((await call('DELETE', `/sources/${path}`)).status).toBe(204)
      }
      expect((await call('GET', '/endpoints?limit=100')).body['data']).toEqual([])
      await posthorn.stop()
    })
  })
})
