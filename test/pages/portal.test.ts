import { describe, expect, test } from 'vitest'

import { offered } from '../../src/pages/portal/offered.ts'
import { portal, type PortalOptions } from '../../src/pages/portal.ts'
import { createPortalClient } from '../../src/pages/portal-client.ts'
import { operations } from '../../src/operations/table.ts'
import type { OperationName } from '../../src/operations/operation.ts'
import type { Options } from '../../src/options.ts'
import { createTestPosthorn } from '../../src/testing/index.ts'

const secret = 'a secret of the portal, of 32 characters or more'
const origin = 'http://app.test'

async function made(options: Partial<PortalOptions> = {}, host: Pick<Options, 'deliver'> = {}) {
  const posthorn = createTestPosthorn({ logger: silent, ...host })
  const customers = portal(posthorn, { basePath: '/webhooks', secret, ...options })
  for (const id of ['acme', 'other']) await posthorn.workspaces.create({ id, name: `${id} name` })
  const call = async (token: string | null, method: string, path: string, body?: unknown) => {
    const answer = await customers.fetch(
      new Request(`${origin}/webhooks/api/v1${path}`, {
        method,
        headers: { ...(token !== null && { authorization: `Bearer ${token}` }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) }
  }
  const { token } = await customers.session('acme')
  return { posthorn, customers, call, token }
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const hook = 'https://acme.example/hooks'

describe('what the portal offers', () => {
  test('every operation is one that hosts may offer to their customers', () => {
    expect(offered.length).toBeGreaterThan(10)
    expect(offered.filter(({ route }) => operations[route.operation as OperationName].tenant !== true)).toEqual([])
  })

  test('a customer adds an endpoint, which signs, tests the endpoint, and sees what came', async () => {
    const { posthorn, customers } = await made()
    const { token } = await customers.session('acme name')
    const client = createPortalClient({
      baseUrl: `${origin}/webhooks`,
      token,
      fetch: (url, init) => customers.fetch(new Request(url, init)),
    })
    const endpoint = await client.endpoints.create({ url: hook, events: ['*'], headers: { 'x-team': 'a' } })
    expect(endpoint).toMatchObject({ url: hook, events: ['*'], headers: { 'x-team': 'a' }, enabled: true })
    expect(Object.keys(endpoint)).not.toContain('request')
    expect((await client.endpoints.secret(endpoint.id)).secret).toMatch(/^whsec_/)
    expect(await client.endpoints.test(endpoint.id)).toMatchObject({ status: 'SUCCESSFUL' })
    expect(posthorn.deliveries[0]?.headers['webhook-signature']).toMatch(/^v1,/)
    expect(Object.keys(JSON.parse(posthorn.deliveries[0]?.body ?? '{}'))).toEqual(['type', 'timestamp', 'data'])
    expect(await client.endpoints.patch(endpoint.id, { enabled: false })).toMatchObject({ enabled: false, url: hook })
    expect((await client.endpoints.list()).data).toHaveLength(1)
    expect((await posthorn.endpoints.list('other')).data).toEqual([])
    expect(await client.session()).toMatchObject({ workspace: { name: 'acme name' }, read_only: false })
    await expect(client.endpoints.create({ url: 'nonsense' })).rejects.toMatchObject({
      code: 'validation',
      fields: { url: 'value must be an http or https URL' },
    })
  })

  test('the document names what is offered and nothing else', async () => {
    const { call } = await made()
    const { status, body } = await call(null, 'GET', '/openapi.json')
    expect(status).toBe(200)
    expect(Object.keys(body.paths)).toContain('/endpoints/{id}/secret/rotate')
    expect(Object.keys(body.paths).some((path) => /workspace|plugin|source|config/.test(path))).toBe(false)
    expect(Object.keys(body.components.schemas.EndpointInput.properties)).toEqual([
      'url',
      'description',
      'events',
      'headers',
      'enabled',
    ])
    const named = [...JSON.stringify(body).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name!)
    expect([...new Set(named)].toSorted()).toEqual(Object.keys(body.components.schemas).toSorted())
  })

  test('the envelope is what the host says, and as `deliver.sign` makes signatures', async () => {
    for (const [options, sign, bare] of [
      [{ envelope: false }, 'none', true],
      [{}, 'standard-webhooks', true],
      [{ envelope: true }, 'standard-webhooks', false],
    ] as const) {
      const { call, token, posthorn } = await made(options, { deliver: { sign } })
      const { body } = await call(token, 'POST', '/endpoints', { url: hook })
      await call(token, 'POST', `/endpoints/${body.id}/test`, {})
      const sent = JSON.parse(posthorn.deliveries[0]?.body ?? 'null') as object
      expect('timestamp' in sent).toBe(!bare)
    }
  })

  test('URLs that the deny list refuses are refused when they are written', async () => {
    const { call, token } = await made({ httpsOnly: true })
    for (const [url, reason] of [
      ['https://169.254.169.254/latest', 'address 169.254.169.254 is denied by @linklocal'],
      ['https://127.0.0.1/', 'address 127.0.0.1 is denied by @loopback'],
      ['http://acme.example/', 'value must be an https URL'],
    ]) {
      const { status, body } = await call(token, 'POST', '/endpoints', { url })
      expect({ status, url: body.error?.fields.url }).toEqual({ status: 400, url: reason })
    }
    const { body } = await call(token, 'POST', '/endpoints', { url: hook })
    expect((await call(token, 'PATCH', `/endpoints/${body.id}`, { url: 'https://10.0.0.1/' })).status).toBe(400)
  })

  test('what the host does not allow is refused, and so is an endpoint too many', async () => {
    const { call, token } = await made({
      allow: { rotate: false, headers: false, delete: false },
      limits: { endpoints: 1 },
    })
    expect((await call(token, 'POST', '/endpoints', { url: hook, headers: { a: 'b' } })).body.error.fields).toEqual({
      headers: 'headers are not offered here',
    })
    const { body } = await call(token, 'POST', '/endpoints', { url: hook })
    expect((await call(token, 'POST', `/endpoints/${body.id}/secret/rotate`)).status).toBe(403)
    expect((await call(token, 'DELETE', `/endpoints/${body.id}`)).status).toBe(403)
    expect((await call(token, 'POST', '/endpoints', { url: `${hook}/2` })).body.message).toMatch(
      /maximum number of endpoints/,
    )
  })

  test('options that cannot be are refused by name', async () => {
    const posthorn = createTestPosthorn({ logger: silent })
    const at = (options: object) => () => portal(posthorn, { secret, ...options })
    expect(at({ secret: 'short' })).toThrow('portal: secret: minimum string length is 32')
    expect(at({ frameAncestors: ['https://a.example/path'] })).toThrow('portal: frameAncestors')
    expect(at({ frameAncestors: ["https://a.example; script-src 'unsafe-inline'"] })).toThrow('portal: frameAncestors')
    expect(at({ brand: { logo: 'https://elsewhere.example/logo.png' } })).toThrow('portal: brand.logo')
    expect(at({ brand: { accent: 'red' } })).toThrow('portal: brand.accent')
    expect(at({ allow: { everything: true } })).toThrow('portal: allow')
    expect(at({ basePath: '/a"b' })).toThrow('portal: basePath')
    await expect(
      portal(posthorn, { secret }).session('default', { returnUrl: 'javascript:alert(1)' }),
    ).rejects.toMatchObject({
      code: 'validation',
    })
    expect(() => portal({} as never, { secret })).toThrow('what createPosthorn answers')
  })
})

describe('the token opens nothing else', () => {
  const bodies: Readonly<Record<string, unknown>> = { POST: { url: hook }, PATCH: { description: 'changed' } }
  const routes = offered.map(({ route: { method, path }, right }) => ({ method, path, right }))

  /** Every route with the token, on rows of the workspace that the paths name. */
  async function statuses(
    { posthorn, call }: Pick<Awaited<ReturnType<typeof made>>, 'posthorn' | 'call'>,
    token: string | null,
    owner = 'acme',
  ) {
    const endpoint = await posthorn.endpoints.create(owner, { request: { url: hook } })
    const event = await posthorn.events.create(owner, { event_type: 'a', data: {} })
    const found: Record<string, number> = {}
    for (const { method, path } of routes) {
      const id = path.startsWith('/events') ? event.id : endpoint.id
      const place = path.replace(/:id|:endpoint_id/g, id).replace(':event_id', event.id)
      const body = path === '/endpoints' || method === 'PATCH' ? bodies[method] : undefined
      found[`${method} ${path}`] = (await call(token, method, place, body)).status
      await posthorn.advance(1000) // the rate limit is not what is tried here
    }
    const still = await posthorn.endpoints.get(owner, endpoint.id).catch(() => null)
    return { found, still }
  }

  test('without a token, with a tampered, expired, revoked one, and with one under another secret, every route is 401', async () => {
    const { posthorn, customers, call, token } = await made()
    const [head, id, claims, signature] = token.split('.') as [string, string, string, string]
    const forged = btoa(JSON.stringify({ ...JSON.parse(atob(claims)), w: 'other' })).replaceAll('=', '')
    const flipped = (text: string) => `${text.slice(0, 5)}${text[5] === 'A' ? 'B' : 'A'}${text.slice(6)}`
    const elsewhere = portal(posthorn, { secret: `${secret} but another` })
    const short = await customers.session('acme', { ttlSeconds: 60 })
    await posthorn.advance(61_000)
    const revoked = await customers.session('other')
    await customers.revoke('other')
    for (const bad of [
      null,
      '',
      'nonsense',
      short.token,
      revoked.token,
      (await elsewhere.session('acme')).token,
      [head, id, forged, signature].join('.'),
      [head, id, flipped(claims), signature].join('.'),
      [head, id, claims, flipped(signature)].join('.'),
      [head, '00000000', claims, signature].join('.'),
      `${token}A`,
    ]) {
      const { found, still } = await statuses({ posthorn, call }, bad)
      expect(new Set(Object.values(found)), String(bad)).toEqual(new Set([401]))
      expect(still).toMatchObject({ description: null })
    }
    expect((await call(token, 'GET', '/session')).status).toBe(200)
  })

  test('rows of another workspace are unknown', async () => {
    const { posthorn, customers, call } = await made()
    const { token } = await customers.session('other')
    const { found, still } = await statuses({ posthorn, call }, token)
    expect(still).toMatchObject({ description: null })
    for (const { method, path } of routes.filter(({ path }) => path.includes(':'))) {
      // Deleting what is not there is fine.
      expect([404, 204], `${method} ${path}`).toContain(found[`${method} ${path}`])
    }
    expect((await posthorn.endpoints.list('acme')).data).toHaveLength(1)
  })

  test('a read-only session changes and reveals nothing', async () => {
    const { posthorn, customers, call } = await made()
    const { token } = await customers.session('acme', { readOnly: true })
    const { found, still } = await statuses({ posthorn, call }, token)
    expect(still).toMatchObject({ description: null })
    for (const { method, path, right } of routes) {
      const status = found[`${method} ${path}`]
      if (right === 'read') expect([200, 404], `${method} ${path}`).toContain(status)
      else expect([`${method} ${path}`, status]).toEqual([`${method} ${path}`, 403])
    }
    expect((await call(token, 'GET', '/session')).body.allow).toMatchObject({
      create: false,
      secret: false,
      replay: false,
    })
  })

  test('a workspace that was deleted and made anew is another one', async () => {
    const { posthorn, call, token } = await made()
    await posthorn.workspaces.delete('acme')
    expect((await call(token, 'GET', '/endpoints')).status).toBe(401)
    await posthorn.advance(2000)
    await posthorn.workspaces.create({ id: 'acme' })
    expect((await call(token, 'GET', '/endpoints')).status).toBe(401)
  })

  test('a write of metadata brings no revoked session back', async () => {
    const { posthorn, customers, call, token } = await made()
    const { metadata: before } = await posthorn.workspaces.get('acme')
    await customers.revoke('acme')
    const { metadata: between } = await posthorn.workspaces.get('acme')
    const { token: second } = await customers.session('acme')
    await customers.revoke('acme')
    // Somebody writes back what was read before, with the count of then.
    for (const metadata of [before, between]) await posthorn.workspaces.update('acme', { metadata })
    expect((await call(second, 'GET', '/endpoints')).status).toBe(401)
    await posthorn.workspaces.update('acme', { metadata: { plan: 'gold' } })
    await posthorn.workspaces.patch('acme', { metadata: null })
    expect((await call(token, 'GET', '/endpoints')).status).toBe(401)
    const { token: fresh } = await customers.session('acme')
    expect((await call(fresh, 'GET', '/endpoints')).status).toBe(200)
  })

  test('of two secrets the first signs and both open', async () => {
    const { posthorn, token } = await made()
    const rotated = portal(posthorn, { basePath: '/webhooks', secret: [`${secret}, the next`, secret] })
    const get = (given: string) =>
      rotated.fetch(new Request(`${origin}/webhooks/api/v1/session`, { headers: { authorization: `Bearer ${given}` } }))
    const { token: next } = await rotated.session('acme')
    expect(next.split('.')[1]).not.toBe(token.split('.')[1])
    expect((await get(token)).status).toBe(200)
    expect((await get(next)).status).toBe(200)
  })

  test('20 requests a second, then 429 with the time to wait', async () => {
    const { posthorn, customers, call, token } = await made()
    const asked = await Promise.all(Array.from({ length: 25 }, () => call(token, 'GET', '/session')))
    const refused = asked.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(5)
    expect(refused[0]?.headers.get('retry-after')).toBe('1')
    const { token: another } = await customers.session('acme', { ttlSeconds: 600 })
    expect((await call(another, 'GET', '/session')).status).toBe(200)
    await posthorn.advance(1000)
    expect((await call(token, 'GET', '/session')).status).toBe(200)
  })

  test('a body counts by its length, and one that no endpoint needs is refused', async () => {
    const { posthorn, call, token } = await made()
    const write = async (bytes: number) => {
      const more = Object.fromEntries(Array.from({ length: bytes / 11 }, (_, i) => [`x${i + 10_000}`, 1]))
      return (await call(token, 'POST', '/endpoints', { url: hook, ...more })).status
    }
    expect([await write(150_000), await write(150_000), await write(150_000)]).toEqual([201, 201, 429])
    expect(await write(300_000)).toBe(413)
    await posthorn.advance(1000)
    expect([await write(100), await write(100)]).toEqual([201, 201])
  })

  test('changes are told with who made them', async () => {
    const { posthorn, call, token } = await made()
    const told: unknown[] = []
    posthorn.on('change', (change) => told.push(change))
    const { body } = await call(token, 'POST', '/endpoints', { url: hook })
    expect(told).toEqual([{ actor: 'portal', operation: 'endpoints.create', workspace_id: 'acme', id: body.id }])
  })
})

describe('the page', () => {
  test('has its token in the fragment, a strict policy, and frames where the host says so', async () => {
    const { customers, token } = await made({ frameAncestors: ['https://app.example'], origin: 'https://app.example' })
    const { url } = await customers.session('acme')
    expect(url).toMatch(/^https:\/\/app\.example\/webhooks\/#ph1\./)
    const page = await customers.fetch(new Request(`${origin}/webhooks/`))
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain('frame-ancestors https://app.example')
    expect(policy).not.toContain('unsafe')
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(await page.text()).not.toContain(token)
  })
})
