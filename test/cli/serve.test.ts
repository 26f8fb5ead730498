import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import pg from 'pg'
import { describe, expect, inject, test } from 'vitest'

import { folder, posthorn, running, server, suiteDatabase } from '../support/cli.ts'
import { hooks } from '../support/hooks.ts'
import { freePort } from '../support/postgres.ts'

const slow = { timeout: 90_000 }
const ports = { PORT_ADMIN: '0', PORT_GATEWAY: '0', PORT_STATUS: '0' }

describe('settings', () => {
  test('all that are wrong are told at once, and nothing starts', slow, async () => {
    const env = {
      HOST: '0.0.0.0',
      POSTHORN_ROLE: 'api',
      PORT_ADMIN: 'x',
      POSTHORN_CONCURENCY: '5',
      DATABASE_URL: 'mysql://x',
    }
    const { code, out, err } = await posthorn(['serve'], { env })
    expect([code, out, err.trim().split('\n')]).toEqual([
      2,
      '',
      [
        'posthorn: 5 settings are wrong:',
        '  PORT_ADMIN must be an integer from 0 to 65535',
        '  DATABASE_URL must be a url that begins with postgres:// or postgresql://',
        '  POSTHORN_CONCURENCY is no setting; did you mean POSTHORN_CONCURRENCY?',
        '  HOST 0.0.0.0 is reached by others: set ADMIN_TOKEN, or authorize in the configuration file',
        '  POSTHORN_ROLE api shares its work with other processes: set DATABASE_URL or REDIS_URL',
      ],
    ])
  })

  test.each([
    ['posthorn.config.yaml', 'role: worker\nportStatus: 0x\nrolle: api\n'],
    ['posthorn.config.js', 'export default { role: "worker", portStatus: "0x", rolle: "api" }'],
  ])('%s is read and checked', slow, async (name, text) => {
    const cwd = folder()
    writeFileSync(join(cwd, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(cwd, name), text)
    const { err } = await posthorn(['serve'], { cwd })
    expect(err.trim().split('\n').slice(1)).toEqual([
      '  portStatus must be an integer from 0 to 65535',
      '  rolle is no setting; did you mean role?',
      '  POSTHORN_ROLE worker shares its work with other processes: set DATABASE_URL or REDIS_URL',
    ])
  })

  test('posthorn.config.ts is read where Node strips types, and is told elsewhere', slow, async () => {
    const cwd = folder()
    writeFileSync(join(cwd, 'posthorn.config.ts'), 'const role: string = "nobody"\nexport default { role }\n')
    const { code, err } = await posthorn(['serve'], { cwd })
    const strips = (process.features as { typescript?: unknown }).typescript === 'strip' // Node 22 has it
    expect([code, err]).toEqual([
      2,
      strips
        ? 'posthorn: role must be one of all, api, worker\n'
        : 'posthorn: posthorn.config.ts: this Node reads no TypeScript; use Node 22.18 or later, or a .js file\n',
    ])
  })

  test('a variable comes before the file, and code of the file guards the administrative API', slow, async () => {
    const cwd = folder()
    writeFileSync(
      join(cwd, 'posthorn.config.mjs'),
      'export default { host: "0.0.0.0", portAdmin: 1, authorize: (request) => request.headers.get("x-who") === "me" }',
    )
    const started = running(['serve', '--log', 'text'], { cwd, env: ports })
    const url = (await started.says(/^admin /)).split(/ +/)[1]!.replace('0.0.0.0', '127.0.0.1')
    expect((await fetch(`${url}/endpoints`)).status).toBe(403)
    expect((await fetch(`${url}/endpoints`, { headers: { 'x-who': 'me' } })).status).toBe(200)
  })

  test('variables that Kubernetes adds for a service of the name posthorn are let stand', slow, async () => {
    const own = {
      POSTHORN_SERVICE_HOST: '10.0.0.1',
      POSTHORN_PORT: 'tcp://10.0.0.1:9601',
      POSTHORN_PORT_9601_TCP_ADDR: 'x',
    }
    await server(own)
  })

  test('a port that is in use is told by its number', slow, async () => {
    const { admin } = await server()
    const port = new URL(admin).port
    const { code, err } = await posthorn(['serve'], { env: { ...ports, PORT_ADMIN: port } })
    expect([code, err]).toEqual([1, `posthorn: cannot listen on 127.0.0.1:${port} for admin: the port is in use\n`])
  })
})

test('requests are answered while the worker still begins', slow, async () => {
  const cwd = folder()
  const library = JSON.stringify(pathToFileURL(resolve('dist/index.js')).href)
  writeFileSync(
    join(cwd, 'posthorn.config.mjs'),
    `import { definePlugin } from ${library}
     import * as v from ${JSON.stringify(import.meta.resolve('valibot'))}
     const slow = definePlugin({
       name: 'slow', sides: ['outbound'], config: v.object({}),
       load: () => new Promise(() => { setInterval(() => {}, 1000) }), prepare: () => ({}),
     })
     export default { pluginKinds: [slow] }`,
  )
  const port = await freePort()
  running(['serve', '--config', 'posthorn.config.mjs'], { cwd, env: { ...ports, PORT_ADMIN: String(port) } })
  const answer = async () => (await fetch(`http://127.0.0.1:${port}/workspaces`).catch(() => null))?.status
  await expect.poll(answer, { timeout: 20_000 }).toBe(200)
})

test('the dashboard stands beside the administrative API, and the token is its password', slow, async () => {
  const { admin } = await server({ ADMIN_TOKEN: 'a-long-token' })
  const status = async (path: string, authorization?: string) =>
    (await fetch(`${admin}${path}`, { headers: { ...(authorization !== undefined && { authorization }) } })).status
  const signedIn = `Basic ${Buffer.from('anyone:a-long-token').toString('base64')}`
  expect(await status('/dashboard')).toBe(401)
  expect(await status('/dashboard', `Basic ${Buffer.from('anyone:another').toString('base64')}`)).toBe(401)
  expect(await status('/dashboard', signedIn)).toBe(200)
  expect(await status('/dashboard/api/workspaces', signedIn)).toBe(200)
  expect(await status('/dashboard/api/workspaces')).toBe(401)
  expect(await status('/workspaces', signedIn)).toBe(401)
})

test('without a terminal the log is lines of JSON', slow, async () => {
  const started = running(['serve'], { env: ports })
  const line = JSON.parse(await started.says(/listening/)) as Record<string, string>
  expect(line).toMatchObject({ level: 'info', engine: 'memory', role: 'all', admin: expect.stringMatching(/^http:/) })
  expect(Date.parse(line['time']!)).not.toBeNaN()
  expect(await started.stop()).toBe(0)
  for (const each of (await started.ended()).split('\n')) expect(JSON.parse(each)).toHaveProperty('message')
})

describe.skipIf(inject('postgresUrl') === null)('on PostgreSQL', () => {
  if (inject('postgresUrl') === null) return
  const { url } = suiteDatabase()
  const env = { DATABASE_URL: url }

  test('api and worker share the work; both end on SIGTERM under load, and nothing is lost', slow, async () => {
    const receiver = await hooks()
    const api = await server({ ...env, POSTHORN_ROLE: 'api' })
    const worker = await server(env, ['--role', 'worker'])
    expect((await (await fetch(`${worker.status}/ready`)).json()) as object).toMatchObject({ status: 'UP' })
    const post = (path: string, body: object) =>
      fetch(`${api.admin}${path}`, { method: 'POST', body: JSON.stringify(body) })
    await post('/endpoints', { request: { url: receiver.url }, events: ['*'] })

    // Senders go on until the server is gone; what was answered 201 must arrive.
    const accepted: string[] = []
    const sender = async (): Promise<void> => {
      for (let n = 0; ; n++) {
        const answer = await post('/events', { event_type: 'load', data: { n } }).catch(() => null)
        if (answer === null) return
        if (answer.status === 201) accepted.push(((await answer.json()) as { id: string }).id)
      }
    }
    const senders = Array.from({ length: 8 }, sender)
    await expect.poll(() => receiver.received.length, { timeout: 30_000 }).toBeGreaterThan(50)
    expect(await worker.stop()).toBe(0)
    expect(await api.stop()).toBe(0)
    await Promise.all(senders)

    await server(env, ['--role', 'worker'])
    const arrived = () => new Set(receiver.received.map(({ headers }) => headers['webhook-id']))
    await expect.poll(() => accepted.filter((id) => !arrived().has(id)), { timeout: 60_000 }).toEqual([])
    expect(accepted.length).toBeGreaterThan(50)
  })

  test('migrate makes the schema, says what is pending, and writes SQL', slow, async () => {
    const schema = { ...env, POSTHORN_DATABASE_SCHEMA: 'other' }
    const run = (...args: string[]) => posthorn(['migrate', ...args], { env: schema })
    const before = await run('--check')
    expect([before.code, before.out]).toEqual([1, expect.stringMatching(/^Pending: version 0, needed \d+\./)])
    const made = await run()
    expect([made.code, made.out, made.err]).toEqual([
      0,
      expect.stringMatching(/^The schema other has version \d+\.\n$/),
      expect.stringMatching(/^migrating the schema other from version 0/),
    ])
    const after = await run('--check', '--json')
    expect([after.code, JSON.parse(after.out)]).toMatchObject([0, { schema: 'other', pending: false }])

    const pool = new pg.Pool({ connectionString: url })
    // As if a version before had made it a moment ago.
    await pool.query('delete from other.migrations where version > (select max(version) from other.expansions)')
    expect((await run()).out).toMatch(/^The schema other is up to date \(version \d+\)\.\nThe last step waits until /)
    await pool.query(`update other.expansions set applied_at = applied_at - interval '6 minutes'`)
    expect((await run()).out).toMatch(/^The schema other has version \d+\.\n$/)

    const { out } = await posthorn(['migrate', '--sql'], { env: { POSTHORN_DATABASE_SCHEMA: 'by_hand' } })
    await pool.query(out)
    await pool.end()
    const byHand = await posthorn(['migrate', '--check'], { env: { ...env, POSTHORN_DATABASE_SCHEMA: 'by_hand' } })
    expect(byHand.code).toBe(0)
    expect((await posthorn(['migrate'])).code).toBe(2)
  })

  test('POSTHORN_MIGRATE=false leaves the schema to a job: a server without it says what to run', slow, async () => {
    const other = { ...env, ...ports, POSTHORN_DATABASE_SCHEMA: 'none', POSTHORN_MIGRATE: 'false' }
    for (const role of ['all', 'api', 'worker']) {
      const { code, err } = await posthorn(['serve', '--role', role], { env: other })
      expect([code, err]).toEqual([1, 'posthorn: The schema "none" is missing: run migrate()\n'])
    }
  })
})
