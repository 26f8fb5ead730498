import { brotliCompressSync } from 'node:zlib'

import { describe, expect, test } from 'vitest'

import type { Authorize } from '../../src/options.ts'
import { dashboard } from '../../src/pages/dashboard.ts'
import { portal } from '../../src/pages/portal.ts'
import { createTestPosthorn } from '../../src/testing/index.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const origin = 'http://ops.test'

function made(authorize: Authorize = () => true) {
  const posthorn = createTestPosthorn({ logger: silent, admin: { authorize: () => false } })
  const ops = dashboard(posthorn, { basePath: '/ops/webhooks', authorize })
  const get = (path: string, init: RequestInit = {}) => ops.fetch(new Request(`${origin}${path}`, init))
  return { posthorn, get }
}

describe('the dashboard', () => {
  test('needs somebody who judges requests', () => {
    expect(() => dashboard(createTestPosthorn({ logger: silent }))).toThrow('dashboard: authorize is required')
    expect(() => dashboard(createTestPosthorn({ admin: { authorize: () => true } }))).not.toThrow()
  })

  test('is one document for every view, with a policy that lets nothing in', async () => {
    const { get } = made()
    const pages = await Promise.all(['/ops/webhooks', '/ops/webhooks/w/default/deliveries'].map((path) => get(path)))
    const [text, other] = await Promise.all(pages.map((page) => page.text()))
    expect(text).toBe(other)
    expect(pages[0]!.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; frame-ancestors 'none'",
    )
    expect(Object.fromEntries(pages[0]!.headers)).toMatchObject({
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    for (const [, asset] of text!.matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
      const answer = await get(asset!)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('cache-control')).toContain('immutable')
    }
    expect((await get('/ops/webhooks/assets/unknown.js')).status).toBe(404)
    expect((await get('/elsewhere')).status).toBe(404)
    expect((await get('/ops/webhooks', { method: 'POST' })).status).toBe(405)
    expect(await (await get('/ops/webhooks', { method: 'HEAD' })).text()).toBe('')
  })

  test('the page knows where operational events are, where the instance publishes them', async () => {
    const settingsOf = async (options: object) => {
      const ops = dashboard(createTestPosthorn({ logger: silent, ...options }), { authorize: () => true })
      const text = await (await ops.fetch(new Request(`${origin}/`))).text()
      return JSON.parse(/name="posthorn" content="([^"]*)"/.exec(text)![1]!.replaceAll('&quot;', '"')) as object
    }
    expect(await settingsOf({})).toEqual({ basePath: '' })
    expect(await settingsOf({ operations: { workspace: 'ops' } })).toEqual({ basePath: '', operations: 'ops' })
  })

  test('its authorize takes the place of that of the administrative API, for data and page alike', async () => {
    const asked: string[] = []
    const { posthorn, get } = made((_, { operation }) => {
      asked.push(operation)
      return operation === 'endpoints.list' ? new Response('sign in', { status: 401 }) : operation !== 'status'
    })
    expect((await get('/ops/webhooks/api/workspaces')).status).toBe(200)
    expect((await get('/ops/webhooks/api/workspaces/default/endpoints')).status).toBe(401)
    expect((await get('/ops/webhooks/status')).status).toBe(403)
    expect((await get('/ops/webhooks/health')).status).toBe(200)
    expect((await get('/ops/webhooks/')).status).toBe(200)
    expect(asked).toEqual(['workspaces.list', 'endpoints.list', 'status', 'health', 'dashboard'])
    expect((await posthorn.admin.fetch(new Request(`${origin}/workspaces`))).status).toBe(403)
  })

  test("pages of somebody else cannot use the operator's session", async () => {
    const { get } = made()
    const foreign = { headers: { 'sec-fetch-site': 'cross-site' } }
    expect((await get('/ops/webhooks/api/workspaces', foreign)).status).toBe(403)
    expect((await get('/ops/webhooks/status', foreign)).status).toBe(403)
  })

  test('tells the form of every kind of plugin', async () => {
    const { get } = made()
    const kinds = (await (await get('/ops/webhooks/plugin-kinds')).json()) as { name: string; schema: object }[]
    expect(kinds.map(({ name }) => name)).toContain('standard-webhooks')
    expect(kinds.find(({ name }) => name === 'basic-auth')).toMatchObject({
      sides: ['inbound'],
      schema: { properties: { username: { type: 'string' } } },
    })
  })

  test('what the host gives stands in the page as text', async () => {
    const posthorn = createTestPosthorn({ admin: { authorize: () => true } })
    const texts = { 'nav.overview': '"></script><script>alert(1)</script>' }
    const page = await dashboard(posthorn, { texts }).fetch(new Request(`${origin}/`))
    expect(await page.text()).not.toContain('<script>alert')
  })
})

describe('what a first view weighs', () => {
  test.each(['dashboard', 'portal'])('the %s stays below 70 kB brotli', async (name) => {
    const posthorn = createTestPosthorn({ admin: { authorize: () => true } })
    const { fetch } =
      name === 'dashboard'
        ? dashboard(posthorn)
        : portal(posthorn, { secret: 'a secret of 32 characters at the least' })
    const document = await (await fetch(new Request(`${origin}/`))).text()
    const assets = [...document.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path!)
    const texts = await Promise.all(assets.map(async (path) => (await fetch(new Request(`${origin}${path}`))).text()))
    const size = [document, ...texts].reduce((sum, text) => sum + brotliCompressSync(text).length, 0)
    expect(texts).toHaveLength(2)
    expect(size).toBeGreaterThan(10_000)
    expect(size).toBeLessThan(70_000)
  })
})
