import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'

import { token, useHost } from '../support/host.ts'
import { type Program, program } from '../support/program.ts'
import { describeRedis, sharedRedis } from '../support/redis.ts'
import { makeProject, runtimes } from './project.ts'
import { startReceiver, useServer } from './server.ts'

let project: ReturnType<typeof makeProject>
beforeAll(() => {
  project = makeProject()
})
afterAll(() => project.remove())

function run(
  runtime: string,
  script: string,
  env: Readonly<Record<string, string>> = {},
  words: readonly string[] = [],
): Program {
  const [command = '', ...args] = runtimes[runtime] ?? []
  const running = program(command, [...args, `${script}.js`, ...words], {
    cwd: project.folder,
    env: { PORT: '0', ADMIN_TOKEN: token, NO_COLOR: '1', ...env },
  })
  onTestFinished(async () => void (await running.stop()))
  return running
}

const address = /^http:\/\/127\.0\.0\.1:\d+$/

/** `posthorn serve` on a runtime and an engine, used over HTTP from the first write to the second try of a delivery. */
async function useOwnServer(runtime: string, env: Readonly<Record<string, string>> = {}): Promise<void> {
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const settings = { PORT_ADMIN: '0', PORT_GATEWAY: '0', PORT_STATUS: '0', DENY: '', ADMIN_TOKEN: '' }
  const server = run(runtime, 'node_modules/posthorn/dist/cli/index', { ...env, ...settings }, [
    'serve',
    '--log',
    'text',
  ])
  const face = async (name: string) => (await server.says(new RegExp(`^${name} `))).split(/ +/)[1]!
  const [admin, gateway, status] = [await face('admin'), await face('gateway'), await face('status')]
  await useServer({ admin, gateway }, receiver, { functions: true })

  const report = (await (await fetch(status)).json()) as { runtime: { go: string }; outbound_requests: number }
  expect(report.runtime.go.toLowerCase().replace(/ v?/, ' ')).toContain(runtime.toLowerCase())
  expect(report.outbound_requests).toBe(2)
  expect(await (await fetch(`${status}/health`)).json()).toMatchObject({ status: 'UP' })
  expect(await server.stop()).toBe(0)
}

describe('in memory', () => {
  test.each(Object.keys(runtimes))('posthorn serve works on %s, and stops cleanly', (runtime) => useOwnServer(runtime))
})

describe.skipIf(inject('postgresUrl') === null)('on PostgreSQL', () => {
  test.each(['Node 24', 'Deno', 'Bun'])('posthorn serve works on %s, and stops cleanly', async (runtime) => {
    const admin = new pg.Pool({ connectionString: inject('postgresUrl') ?? '' })
    const name = `runtime_${process.pid}_${runtime.toLowerCase().replace(' ', '')}`
    await admin.query(`create database ${name}`)
    onTestFinished(async () => {
      await admin.query(`drop database ${name} with (force)`)
      await admin.end()
    })
    const url = new URL(inject('postgresUrl') ?? '')
    url.pathname = `/${name}`
    await useOwnServer(runtime, { DATABASE_URL: url.href })
  })
})

describeRedis('on Redis', () => {
  let redis: Awaited<ReturnType<typeof sharedRedis>>
  beforeAll(async () => {
    redis = await sharedRedis()
  })
  afterAll(() => redis.stop())

  test.each([
    ['Node 24', 1],
    ['Deno', 2],
    ['Bun', 3],
  ])('posthorn serve works on %s, and stops cleanly', (runtime, database) =>
    useOwnServer(runtime, { REDIS_URL: `${redis.url}/${database}` }),
  )
})

describe('hosts', () => {
  test.each([
    ['express', 'Node 22'],
    ['fastify', 'Node 22'],
    ['hono', 'Node 20'],
    ['deno', 'Deno'],
    ['bun', 'Bun'],
  ])('%s mounts the three faces', async (example, runtime) => {
    const host = run(runtime, example)
    await useHost(await host.says(address))
  })
})

test.each(['Node 20', 'Node 22', 'Node 24'])('%s may require it', async (runtime) => {
  const script = `console.log(typeof require('posthorn').createPosthorn, typeof require('posthorn/verify').verifyWebhook)`
  const running = program(runtimes[runtime]![0]!, ['--input-type=commonjs', '-e', script], { cwd: project.folder })
  expect(await running.ended()).toContain('function function')
})

test('npx posthorn of the installed package works, and a first event is delivered', async () => {
  const npx = (...words: string[]) => program('npx', ['--no-install', 'posthorn', ...words], { cwd: project.folder })
  // What goes on is started without npx, which does not pass a signal on to it.
  const dev = program('node_modules/.bin/posthorn', ['dev', '--port', '0', '--json'], { cwd: project.folder })
  onTestFinished(() => dev.kill())
  expect(JSON.parse(await dev.says(/posthorn\.hello/))).toMatchObject({ signed: true })
  const { status } = JSON.parse(await dev.says(/"admin"/)) as { status: string }
  expect(await npx('status', '--url', status, '--live').ended()).toMatch(/^UP$/m) // npm may have warnings of its own
  expect(await dev.stop()).toBe(0)
})
