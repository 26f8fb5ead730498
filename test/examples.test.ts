import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'

import manifest from '../package.json' with { type: 'json' }
import { token, useHost } from './support/host.ts'
import { type Program, program } from './support/program.ts'

// The examples run as their users run them: built, importing the built package by its name. Those for Express, Fastify,
// Deno, Bun and workerd run in test/runtime, which installs these.

const running: Program[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop()))
})

function example(name: string, env: Readonly<Record<string, string>> = {}): Program {
  return kept(
    program(process.execPath, [`.build/examples/${name}.js`], { env: { PORT: '0', ADMIN_TOKEN: token, ...env } }),
  )
}

/** An example that exports handlers, served by a few lines. */
function served(name: string, handler: string): Program {
  const script = `
    import { serve } from '@hono/node-server'
    import * as host from './.build/examples/${name}.js'
    serve({ fetch: ${handler}, hostname: '127.0.0.1', port: 0 }, ({ port }) => console.log('http://127.0.0.1:' + port))`
  return kept(program(process.execPath, ['--input-type=module', '-e', script], { env: { ADMIN_TOKEN: token } }))
}

function kept(each: Program): Program {
  running.push(each)
  return each
}

const address = /^http:\/\/127\.0\.0\.1:\d+$/
const slow = { timeout: 60_000 }

describe('a host', () => {
  test.each(['node-http', 'hono'])('%s mounts the three faces, and stops cleanly', slow, async (name) => {
    const host = example(name)
    await useHost(await host.says(address))
    expect(await host.stop()).toBe(0)
  })

  test('Next.js does with the handlers that its route exports', slow, async () => {
    const host = served('next', '(request) => host[request.method](request)')
    await useHost(await host.says(address), { prefix: '/webhooks' })
  })

  test('a Worker does, and its cron trigger delivers', slow, async () => {
    const env = `{ ADMIN_TOKEN: process.env.ADMIN_TOKEN }`
    const host = served(
      'edge',
      `async (request) =>
        request.url.endsWith('/cron') ? Response.json((await host.default.scheduled()) ?? null) : host.default.fetch(request, ${env})`,
    )
    const base = await host.says(address)
    await useHost(base)
    await fetch(`${base}/cron`)
    expect(await host.says(/^delivered/)).toBe('delivered 0, failed 0, remaining 0')
  })
})

test('the quickstart shows three events and four attempts, one of them in vain', slow, async () => {
  const output = await example('quickstart').ended()
  expect(output.match(/SUCCESSFUL/g)).toHaveLength(3)
  expect(output.match(/FAILED/g)).toHaveLength(1)
  expect(output).toContain('{"order":1,"total":12345678901234567890}')
})

test('the quickstart goes on with a dashboard over its data where that is asked for', slow, async () => {
  const demo = kept(program(process.execPath, ['.build/examples/quickstart.js', '--open']))
  const url = (await demo.says(/^dashboard: /)).split(' ')[1]!
  const page = await fetch(url)
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const { data } = (await (await fetch(`${url}/api/workspaces/default/attempts`)).json()) as { data: unknown[] }
  expect(data).toHaveLength(4)
  expect(await demo.stop()).toBe(0)
})

test('npm start passes on the signal with which a supervisor ends it', slow, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-npm-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  // As in the manifest, but for the build, which other tests use meanwhile.
  const start = manifest.scripts.start.replace(/^tsup [^&]*/, 'true ').replace('dist', resolve('dist'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { start } }))
  const ports = { PORT_ADMIN: '0', PORT_GATEWAY: '0', PORT_STATUS: '0', DATABASE_URL: '', REDIS_URL: '' }
  const server = kept(program('npm', ['start'], { cwd: folder, env: ports }))
  const url = (await server.says(/^status /)).split(/ +/)[1]!
  expect((await fetch(`${url}/live`)).status).toBe(200)
  await server.stop()
  await expect
    .poll(
      () =>
        fetch(url).then(
          () => 'there',
          () => 'gone',
        ),
      { timeout: 5000 },
    )
    .toBe('gone')
})

test('the plugin of the example masks before it is signed', slow, async () => {
  expect(await example('custom-plugin').ended()).toBe('{"order":7,"payment":{"card":"***"}}\nsigned: true')
})

test('secrets are masked, rotated and sealed with a new key', slow, async () => {
  expect(await example('secrets').ended()).toBe(
    'Bearer …iver\n2 secrets sign\n3 resealed, 0 in clear, keys in use: 2026-12',
  )
})

describe.skipIf(inject('postgresUrl') === null)('on PostgreSQL', () => {
  const name = `examples_${process.pid}`
  const admin = new pg.Pool({ connectionString: inject('postgresUrl') ?? '' })
  const url = new URL(inject('postgresUrl') ?? 'postgres://none')
  url.pathname = `/${name}`
  const env = { DATABASE_URL: url.href }

  beforeAll(async () => void (await admin.query(`create database ${name}`)))
  afterAll(async () => {
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  })

  test('a service mounts dashboard and portal for two tenants', slow, async () => {
    const host = example('saas', { ...env, PORTAL_SECRET: 'a secret of 32 characters at the least' })
    const base = await host.says(address)
    const page = (authorization: string) => fetch(`${base}/ops/webhooks/`, { headers: { authorization } })
    expect((await page(`Bearer ${token}`)).status).toBe(200)
    expect((await page('Bearer nonsense')).status).toBe(403)
    const link = await fetch(`${base}/account/globex`, { redirect: 'manual' })
    const session = new URL(link.headers.get('location') ?? '', base).hash.slice(1)
    const answer = await fetch(`${base}/webhooks/api/v1/session`, { headers: { authorization: `Bearer ${session}` } })
    expect(await answer.json()).toMatchObject({ workspace: { name: 'Globex' } })
    expect(await host.stop()).toBe(0)
  })

  /** Answers 200 and counts. */
  async function receiver(): Promise<{ readonly url: string; readonly received: string[] }> {
    const received: string[] = []
    const server = createServer((request, response) => {
      received.push(String(request.headers['webhook-event-type']))
      request.resume().on('end', () => response.end())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received }
  }

  test('an order and its event are written together or not at all', slow, async () => {
    const output = await example('transaction', env).ended()
    expect(output).toContain('duplicate key value')
    expect(output).toContain('events: 1')
  })

  test('the server of npm start serves three faces, delivers, and ends on SIGTERM', slow, async () => {
    const { url: hooks, received } = await receiver()
    const settings = { ...env, PORT_ADMIN: '0', PORT_GATEWAY: '0', PORT_STATUS: '0', DENY: '' }
    const server = kept(program(process.execPath, ['dist/cli/index.js', 'serve', '--log', 'text'], { env: settings }))
    const face = async (name: string) => (await server.says(new RegExp(`^${name} `))).split(/ +/)[1]!
    const [adminUrl, gatewayUrl, statusUrl] = [await face('admin'), await face('gateway'), await face('status')]
    const post = (path: string, body: unknown) =>
      fetch(`${adminUrl}${path}`, { method: 'POST', body: JSON.stringify(body) })
    expect((await post('/endpoints', { request: { url: hooks }, events: ['*'] })).status).toBe(201)
    expect((await post('/sources', { config: { http: { path: '/in' } } })).status).toBe(201)
    const body = JSON.stringify({ event_type: 'order.created', data: {} })
    expect((await fetch(`${gatewayUrl}/in`, { method: 'POST', body })).status).toBe(200)
    await expect.poll(() => received, { timeout: 20_000 }).toEqual(['order.created'])
    expect(await (await fetch(`${statusUrl}/health`)).json()).toMatchObject({ status: 'UP' })
    expect(await server.stop()).toBe(0)
  })

  test('a process that only delivers takes what another one published', slow, async () => {
    const script = `
      import pg from 'pg'
      import { createPosthorn } from 'posthorn'
      import { postgres } from 'posthorn/postgres'
      const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
      const posthorn = createPosthorn({ storage: postgres(pool) })
      await posthorn.endpoints.create('default', {
        request: { url: 'http://127.0.0.1:9/' }, events: ['parcel.sent'], retry: { config: { attempts: [0] } },
      })
      const { id } = await posthorn.events.create('default', { event_type: 'parcel.sent', data: {} })
      console.log(id)
      await pool.end()`
    const worker = example('worker', env)
    await worker.says(/^delivering$/)
    const id = await program(process.execPath, ['--input-type=module', '-e', script], { env }).ended()
    expect(await worker.says(/^gave up/)).toContain(id)
    expect(await worker.stop()).toBe(0)
  })

  test('a function delivers before it answers, and leaves retries to its schedule', slow, async () => {
    const script = `
      import { POST, scheduled } from './.build/examples/serverless.js'
      const answer = await POST(new Request('http://shop.test/', { method: 'POST', body: '{"order":7}' }))
      console.log(answer.status, typeof (await answer.json()).event)
      console.log(typeof (await scheduled()).remaining)
      process.exit()`
    const output = await program(process.execPath, ['--input-type=module', '-e', script], { env }).ended()
    expect(output).toBe('201 string\nnumber')
  })
})
