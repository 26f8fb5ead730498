import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import pg from 'pg'
import * as v from 'valibot'
import { beforeAll, describe, expect, inject, test } from 'vitest'

import { createPosthorn, definePlugin } from '../../adapters/node/index.ts'
import { openPostgres } from '../../adapters/postgres/index.ts'
import { eventValidation } from '../../src/plugins/event-validation/index.ts'
import { folder, installed, posthorn, suiteDatabase } from '../support/cli.ts'
import { describeOwnRedis, startRedis } from '../support/redis.ts'

interface Finding {
  readonly check: string
  readonly level: string
  readonly message: string
  readonly advice?: string
}

const slow = { timeout: 60_000 }

/** What the doctor finds wrong. Its exit code must agree. */
async function wrong(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  at?: string,
): Promise<readonly Finding[]> {
  const { code, out, err } = await posthorn(['doctor', '--json', ...args], { env, ...(at !== undefined && { at }) })
  const { findings } = JSON.parse(out || JSON.stringify({ findings: [] })) as { findings: readonly Finding[] }
  const found = findings.filter(({ level }) => level === 'problem')
  expect([code, err]).toEqual([found.length > 0 ? 1 : 0, ''])
  for (const { advice } of found) expect(advice).toBeTruthy()
  return found
}
const messages = (found: readonly Finding[]) => found.map(({ check, message }) => `${check}: ${message}`)

test('an engine that does not answer is told, and settings are judged all the same', slow, async () => {
  expect(messages(await wrong({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', DENY: '' }))).toEqual([
    'deny list: The deny list is empty: deliveries may go to private addresses and to this machine.',
    expect.stringMatching(/^storage: postgres does not answer: /),
  ])
  expect(messages(await wrong({}))).toEqual([
    'storage: No engine is set: everything is kept in memory, and nothing survives a restart.',
  ])
})

describe.skipIf(inject('postgresUrl') === null)('on PostgreSQL', () => {
  if (inject('postgresUrl') === null) return
  const { url } = suiteDatabase()
  const env = { DATABASE_URL: url }
  const asked = async (...statements: string[]): Promise<void> => {
    const client = new pg.Client(url)
    await client.connect()
    try {
      for (const statement of statements) await client.query(statement)
    } finally {
      await client.end()
    }
  }
  const ofSchema = (schema: string) => ({ ...env, POSTHORN_DATABASE_SCHEMA: schema })
  const migrated = async (schema: string) => {
    expect((await posthorn(['migrate'], { env: ofSchema(schema) })).code).toBe(0)
    return ofSchema(schema)
  }
  beforeAll(async () => void (await migrated('posthorn')), 60_000)

  test('nothing is wrong where nothing is, in words and as JSON', slow, async () => {
    expect(await wrong(env)).toEqual([])
    const { out, code } = await posthorn(['doctor'], { env })
    expect([code, out.trim().split('\n').at(-1)]).toEqual([0, 'Nothing is wrong.'])
  })

  test('1: a clock that is off', slow, async () => {
    const shift = encodeURIComponent('const now = Date.now; Date.now = () => now() + 5000')
    expect(messages(await wrong({ ...env, NODE_OPTIONS: `--import=data:text/javascript,${shift}` }))).toEqual([
      'clock: The clock of this machine is 5s ahead of that of postgres.',
    ])
  })

  test('2: a schema that is old, and one that is not there', slow, async () => {
    const old = await migrated('old')
    await asked(
      'delete from old.expansions where version = (select max(version) from old.expansions)',
      'delete from old.migrations where version > (select coalesce(max(version), 0) from old.expansions)',
    )
    expect(messages(await wrong(old))).toEqual([
      expect.stringMatching(/^schema: The schema old has version \d+, and version \d+ is needed\.$/),
    ])
    expect(messages(await wrong(ofSchema('none')))).toEqual(['schema: The schema none is not there.'])
  })

  test('3: a pool that is unsafe, and one that is larger than the server', slow, async () => {
    const home = folder()
    const file = join(home, 'posthorn.config.mjs')
    const at = (path: string) => JSON.stringify(pathToFileURL(resolve(path)).href)
    writeFileSync(
      file,
      `import pg from ${at('node_modules/pg/lib/index.js')}
       import { postgres } from ${at('dist/postgres/index.js')}
       const pool = new pg.Pool({ connectionString: ${JSON.stringify(url)}, allowExitOnIdle: true })
       export default { storage: postgres(pool) }`,
    )
    expect(messages(await wrong({}, ['--config', file]))).toEqual([
      expect.stringMatching(/^pool: The pool of PostgreSQL notices a silent line late: set connectionTimeoutMillis/),
    ])
    expect(messages(await wrong({ ...env, POSTHORN_DATABASE_POOL: '1000' }))).toEqual([
      expect.stringMatching(/^pool: The pool of one process takes up to 1000 connections, and the server has \d+\.$/),
    ])
  })

  test('5: rights that are missing', slow, async () => {
    const role = `doctor_${process.pid}`
    await asked(`create role ${role} login`, `grant usage on schema posthorn to ${role}`)
    const limited = new URL(url)
    limited.username = role
    try {
      const [first, ...others] = await wrong({ DATABASE_URL: limited.href })
      expect([first, others]).toEqual([expect.objectContaining({ check: 'rights' }), []])
      await asked(`grant select on all tables in schema posthorn to ${role}`)
      expect(messages(await wrong({ DATABASE_URL: limited.href }))).toEqual([
        expect.stringMatching(/^rights: The role "doctor_\d+" lacks .*insert on posthorn\.workspaces/),
      ])
    } finally {
      await asked(`drop owned by ${role}`, `drop role ${role}`)
    }
  })

  test('6: tables that grow, with nothing that removes', slow, async () => {
    const big = await migrated('big')
    await asked(`update pg_class set reltuples = 5e6 where oid = 'big.attempts'::regclass`)
    expect(messages(await wrong(big))).toEqual([
      expect.stringMatching(/^retention: Nothing is ever removed, and there are about 5000000 attempts/),
    ])
    expect(await wrong({ ...big, POSTHORN_ATTEMPTS_DAYS: '30' })).toEqual([])
  })

  test('7: a server that others reach, without a token', slow, async () => {
    expect(messages(await wrong({ ...env, HOST: '0.0.0.0' }))).toEqual([
      'settings: HOST 0.0.0.0 is reached by others: set ADMIN_TOKEN, or authorize in the configuration file.',
    ])
    expect(await wrong({ ...env, HOST: '0.0.0.0', ADMIN_TOKEN: 'correct-horse' })).toEqual([])
  })

  test('8: an empty deny list', slow, async () => {
    expect((await wrong({ ...env, DENY: '' })).map(({ check }) => check)).toEqual(['deny list'])
  })

  test('9: work that nobody does, and 10: a plugin that nobody can run', slow, async () => {
    const left = await migrated('backlog')
    const acme = definePlugin({ name: 'acme', sides: ['outbound'], config: v.object({}), prepare: () => ({}) })
    const storage = openPostgres(url, { schema: 'backlog' })
    const instance = createPosthorn({ storage, plugins: [acme] })
    const { id } = await instance.endpoints.create('default', {
      request: { url: 'https://shop.example/' },
      events: ['*'],
    })
    await instance.plugins.create('default', { endpoint_id: id, name: 'acme' })
    await instance.events.create('default', { event_type: 'order.paid', data: {} })
    await instance.stop()
    expect(messages(await wrong(left))).toEqual([
      'plugins: 1 enabled plugin of the name acme cannot be run: requests get 500, deliveries fail.',
    ])
    await asked('update backlog.jobs set due_at = due_at - 600000')
    expect(messages(await wrong(left))).toContain('backlog: 1 job waits, the oldest due for 10m.')
  })

  test('10: a plugin of ours whose package is not installed', slow, async () => {
    const ours = await migrated('ours')
    const instance = createPosthorn({ storage: openPostgres(url, { schema: 'ours' }), plugins: [eventValidation()] })
    const config = { version: 'draft-2020-12', schemas: { 'order.paid': '{}' } } as const
    for (const enabled of [true, false]) {
      const { id } = await instance.sources.create('default', { config: { http: { path: `/${enabled}` } } })
      await instance.plugins.create('default', { source_id: id, name: 'event-validation', enabled, config })
    }
    await instance.stop()
    const sentence = '1 enabled plugin of the name event-validation cannot be run: requests get 500, deliveries fail.'
    const advice = 'Run npm i re2js, name it in POSTHORN_PLUGINS where that is set, or disable the rows.'
    const missing = [{ check: 'plugins', level: 'problem', message: sentence, advice }]

    expect(await wrong(ours)).toEqual([])
    expect(await wrong({ ...ours, POSTHORN_PLUGINS: 'function' })).toEqual(missing)
    const { entry: without } = installed('pg')
    expect(await wrong(ours, [], without)).toEqual(missing)
    const { entry: beside } = installed('pg', 're2js')
    expect(await wrong(ours, [], beside)).toEqual([])
  })
})

describeOwnRedis('on Redis', () => {
  test('4: a server that keeps nothing, and one that removes keys', slow, async () => {
    const redis = await startRedis({ maxmemory: '100mb', 'maxmemory-policy': 'allkeys-lru' })
    try {
      expect(messages(await wrong({ REDIS_URL: redis.url }))).toEqual([
        'redis: Redis has no append-only file: what it acknowledged is lost when it ends.',
        'redis: Redis removes keys when its memory is full (allkeys-lru).',
      ])
    } finally {
      await redis.stop()
    }
    const durable = await startRedis({ appendonly: 'yes' })
    expect(await wrong({ REDIS_URL: durable.url })).toEqual([])
    await durable.stop()
  })
})
