import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, inject, test } from 'vitest'

import { folder, onEveryServer, posthorn, running, server } from '../support/cli.ts'

const slow = { timeout: 60_000 }
const secret = 'of the portal and of 32 characters or more'
const token = 'correct-horse'
const own = { POSTHORN_PORTAL_SECRET: secret, ADMIN_TOKEN: token }
const bearer = (given: string) => ({ headers: { authorization: `Bearer ${given}` } })
const status = async (url: string, given = '') => (await fetch(url, given === '' ? {} : bearer(given))).status
interface Link {
  readonly url: string
  readonly token: string
  readonly expires_at: number
}

onEveryServer((engine) => {
  test('a link opens the portal of one workspace, until it is revoked, and nothing else', slow, async () => {
    const env = { ...engine(), ...own }
    const { admin } = await server(env)
    const link = (...args: string[]) => posthorn(['portal-link', ...args, '--url', admin], { env })
    const make = (id: string) =>
      fetch(`${admin}/workspaces`, {
        method: 'POST',
        ...bearer(token),
        body: JSON.stringify({ id, name: `${id}-inc` }),
      })
    for (const id of ['acme', 'other']) expect((await make(id)).status).toBe(201)
    if (Object.keys(engine()).length === 0) {
      expect(await link('acme')).toEqual({
        code: 2,
        out: '',
        err: 'posthorn: set DATABASE_URL or REDIS_URL: what a server has in memory is in that server alone\n',
      })
      return
    }

    const { code, out, err } = await link('acme', '--ttl', '5m')
    expect([code, err]).toEqual([0, expect.stringMatching(/^It opens until \d{4}-\d\d-\d\dT[\d:.]+Z\.\n$/)])
    expect(Date.parse(/until (.*)\./.exec(err)![1]!) - Date.now()).toBeLessThanOrEqual(5 * 60_000)
    const [, customer] = /^(.*)\/portal\/#(\S+)\n$/.exec(out)!.slice(1)
    expect(out.startsWith(`${admin}/portal/#`)).toBe(true)
    const page = await fetch(out.trim())
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const script = /src="([^"]+\.js)"/.exec(await page.text())![1]!
    expect(await status(new URL(script, admin).href)).toBe(200)

    const api = `${admin}/portal/api/v1`
    const session = async (given: string) =>
      (await (await fetch(`${api}/session`, bearer(given))).json()) as Record<string, unknown>
    expect(await session(customer!)).toMatchObject({ workspace: { name: 'acme-inc' }, read_only: false })
    const added = await fetch(`${api}/endpoints`, {
      method: 'POST',
      ...bearer(customer!),
      body: JSON.stringify({ url: 'https://acme.example/hooks', events: ['*'] }),
    })
    expect(added.status).toBe(201)
    const other = JSON.parse((await link('other-inc', '--read-only', '--json')).out) as Link
    expect(other.url).toBe(`${admin}/portal/#${other.token}`)
    expect(await session(other.token)).toMatchObject({ workspace: { name: 'other-inc' }, read_only: true })
    const rows = async (given: string) =>
      ((await (await fetch(`${api}/endpoints`, bearer(given))).json()) as { data: unknown[] }).data.length
    expect([await rows(customer!), await rows(other.token)]).toEqual([1, 0])

    expect(await status(`${api}/session`)).toBe(401)
    expect(await status(`${api}/session`, token)).toBe(401)
    for (const path of ['/workspaces', '/endpoints', '/dashboard', '/dashboard/api/workspaces', '/portalx']) {
      expect([path, await status(`${admin}${path}`), await status(`${admin}${path}`, customer)]).toEqual(
        path === '/portalx' ? [path, 404, 404] : [path, 401, 401],
      )
    }

    expect(await link('acme', '--revoke')).toMatchObject({ code: 0, out: 'No link to acme opens any more.\n' })
    expect([await status(`${api}/session`, customer), await status(`${api}/session`, other.token)]).toEqual([401, 200])
    expect(await link('nobody')).toEqual({ code: 1, out: '', err: 'posthorn: invalid workspace: nobody\n' })
    expect(await link('nobody', '--revoke')).toMatchObject({ code: 1, err: 'posthorn: invalid workspace: nobody\n' })
  })
})

test('without a secret there is no portal', slow, async () => {
  const { admin } = await server({ ADMIN_TOKEN: token })
  expect(await status(`${admin}/portal/`, token)).toBe(404)
  expect(await status(`${admin}/portal/api/v1/session`, token)).toBe(404)
})

describe('what cannot be meant is told', () => {
  const database = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
  const said = async (args: readonly string[], env: Readonly<Record<string, string>>) => {
    const { code, out, err } = await posthorn(['portal-link', ...args], { env: { ...database, ...env } })
    expect([code, out]).toEqual([2, ''])
    return err
  }

  test.each([
    ['short', 'x'.repeat(31)],
    ['one of two short', `${secret},short`],
    ['three', [secret, secret, secret].join(',')],
  ])('a secret that is no such: %s', slow, async (_name, wrong) => {
    const sentence = 'POSTHORN_PORTAL_SECRET must be 32 characters or more, one or two separated by a comma\n'
    for (const args of [['serve'], ['portal-link', 'acme']]) {
      const { code, out, err } = await posthorn(args, { env: { ...database, POSTHORN_PORTAL_SECRET: wrong } })
      expect([code, out, err]).toEqual([2, '', `posthorn: ${sentence}`])
    }
  })

  test('a time and an address', slow, async () => {
    for (const ttl of ['59s', '31d', '1w', 'soon']) {
      expect(await said(['acme', '--ttl', ttl], own)).toContain('It must be from 1m to 30d, such as 30m, 1h, 7d.')
    }
    for (const url of ['hooks.example', 'ftp://hooks.example', 'http://']) {
      expect(await said(['acme', '--url', url], own)).toBe('posthorn: --url must be an http or https url\n')
    }
  })
})

describe.skipIf(inject('postgresUrl') === null)('with a database', () => {
  const env = { DATABASE_URL: inject('postgresUrl')!, POSTHORN_DATABASE_SCHEMA: 'portal_link' }
  const link = async (more: Readonly<Record<string, string>>, ...args: string[]) =>
    await posthorn(['portal-link', 'default', ...args], { env: { ...env, ...more } })

  test('a link begins with the public url, else where the server listens; the secret is asked for', slow, async () => {
    expect((await posthorn(['migrate'], { env })).code).toBe(0)
    const begins = async (more: Readonly<Record<string, string>>, ...args: string[]) =>
      (await link({ ...own, ...more }, ...args)).out.split('#')[0]
    expect(await begins({})).toBe('http://127.0.0.1:9601/portal/')
    expect(await begins({ PORT_ADMIN: '7000', HOST: '::1' })).toBe('http://[::1]:7000/portal/')
    const open = { POSTHORN_PUBLIC_URL: 'https://hooks.example/', HOST: '0.0.0.0' }
    expect(await begins(open)).toBe('https://hooks.example/portal/')
    expect(await begins(open, '--url', 'https://other.example:8443')).toBe('https://other.example:8443/portal/')
    expect(await link({ ...own, HOST: '0.0.0.0' })).toMatchObject({
      code: 2,
      err: 'posthorn: where do browsers reach the portal? Give --url, or set POSTHORN_PUBLIC_URL\n',
    })
    expect(await link({})).toMatchObject({
      code: 2,
      err: 'posthorn: set POSTHORN_PORTAL_SECRET to that of the server: without it there is no portal\n',
    })
  })

  test('a secret is replaced: of two the first signs and both open', slow, async () => {
    const [old, fresh] = ['o'.repeat(32), 'f'.repeat(32)]
    const { admin } = await server({ ...env, POSTHORN_PORTAL_SECRET: `${fresh},${old}` })
    const opens = async (by: string) => {
      const { token } = JSON.parse((await link({ POSTHORN_PORTAL_SECRET: by }, '--json')).out) as Link
      return await status(`${admin}/portal/api/v1/session`, token)
    }
    expect([await opens(old), await opens(fresh), await opens(`${fresh},${old}`)]).toEqual([200, 200, 200])
    expect(await opens('n'.repeat(32))).toBe(401)
  })
})

test('the configuration file says how the portal looks; what is wrong there is told', slow, async () => {
  const cwd = folder()
  const ports = { PORT_ADMIN: '0', PORT_GATEWAY: '0', PORT_STATUS: '0' }
  const write = (text: string) => writeFileSync(join(cwd, 'posthorn.config.yaml'), text)
  write('portal: { brand: { name: Example }, frameAncestors: ["https://app.example"] }\n')
  const started = running(['serve', '--log', 'text'], { cwd, env: { ...ports, ...own } })
  const page = await fetch((await started.says(/^portal /)).split(/ +/)[1]!)
  expect(await page.text()).toContain('<title>Example</title>')
  expect(page.headers.get('content-security-policy')).toContain('frame-ancestors https://app.example')
  expect(await posthorn(['serve'], { cwd, env: ports })).toMatchObject({
    code: 2,
    err: 'posthorn: portal of the configuration file: set POSTHORN_PORTAL_SECRET, without which there is no portal\n',
  })
  write('portal: { brand: { accent: red } }\n')
  expect(await posthorn(['serve'], { cwd, env: { ...ports, ...own } })).toMatchObject({
    code: 2,
    err: 'posthorn: portal: brand.accent: value must be a colour such as #0b6bcb\n',
  })
})

test('dev prints a link that opens the portal', slow, async () => {
  const dev = running(['dev', '--port', '0', '--json'])
  const { portal } = JSON.parse(await dev.says(/"portal"/)) as { portal: string }
  const [base, given] = portal.split('#')
  expect(await status(portal)).toBe(200)
  expect(await status(`${base}api/v1/session`, given)).toBe(200)
})
