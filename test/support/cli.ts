import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

import pg from 'pg'
import { afterAll, beforeAll, describe, inject, onTestFinished } from 'vitest'

import manifest from '../../package.json' with { type: 'json' }
import { type Program, program } from './program.ts'
import { describeRedis, freshNamespace, sharedRedis } from './redis.ts'

const entry = resolve('dist/cli/index.js')

/** Every command, as it is called. */
export const commands = [
  'dev',
  'serve',
  'migrate',
  'sync',
  'dump',
  'status',
  'doctor',
  'events send',
  'events tail',
  'deliveries tail',
  'deliveries retry',
  'replay',
  'listen',
  'verify',
  'secrets status',
  'secrets reseal',
  'portal-link',
]

/** What is set where tests run must not reach a command. */
const clean = { DATABASE_URL: '', REDIS_URL: '', ADMIN_TOKEN: '', POSTHORN_URL: '', POSTHORN_TOKEN: '', NO_COLOR: '' }
type Env = Readonly<Record<string, string>>

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs a command of the built command line to its end; `at` is its file, where it is not that of this repository. */
export function posthorn(
  args: readonly string[],
  {
    env = {},
    cwd = '.',
    input,
    at = entry,
  }: { env?: Env; cwd?: string; input?: string | Uint8Array; at?: string } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [at, ...args], { cwd, env: { ...process.env, ...clean, ...env } })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  child.stdin.on('error', () => {}) // a command that does not read ends first
  child.stdin.end(input ?? '')
  return new Promise((done, reject) => {
    child.once('error', reject)
    child.once('close', (code) => done({ code, out, err }))
  })
}

/** A command that goes on until it is stopped. */
export function running(args: readonly string[], { env = {}, cwd = '.' }: { env?: Env; cwd?: string } = {}): Program {
  const started = program(process.execPath, [entry, ...args], { env: { ...clean, ...env }, cwd })
  onTestFinished(() => started.kill())
  return started
}

export interface RunningServer extends Program {
  readonly admin: string
  readonly gateway: string
  readonly status: string
}

/** `posthorn serve` on free ports, which may send to loopback. */
export async function server(env: Env = {}, args: readonly string[] = []): Promise<RunningServer> {
  const ports = { PORT_ADMIN: '0', PORT_GATEWAY: '0', PORT_STATUS: '0', POSTHORN_ALLOW: '@loopback' }
  const started = running(['serve', '--log', 'text', ...args], { env: { ...ports, ...env } })
  const status = (await started.says(/^status /)).split(/ +/)[1]!
  const isWorker = args.includes('worker')
  const face = async (name: string) => (isWorker ? '' : (await started.says(new RegExp(`^${name} `))).split(/ +/)[1]!)
  return { ...started, admin: await face('admin'), gateway: await face('gateway'), status }
}

/** The built package as it lies in a project that has its dependencies, and of other packages those that are named. */
export function installed(...packages: readonly string[]): { readonly entry: string } {
  const modules = join(folder(), 'node_modules')
  const home = join(modules, 'posthorn')
  mkdirSync(home, { recursive: true })
  cpSync('dist', join(home, 'dist'), { recursive: true })
  cpSync('package.json', join(home, 'package.json'))
  for (const name of [...Object.keys(manifest.dependencies), ...packages]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(resolve('node_modules', name), join(modules, name))
  }
  return { entry: join(home, manifest.bin.posthorn) }
}

/** A folder that is gone after the test. */
export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'posthorn-cli-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

let databases = 0

/** A database of PostgreSQL for a suite, made before it and dropped after it. */
export function suiteDatabase(): { readonly url: string } {
  const base = inject('postgresUrl')!
  const name = `cli_${process.pid}_${process.env['VITEST_WORKER_ID'] ?? '0'}_${++databases}`
  const admin = new pg.Pool({ connectionString: base })
  beforeAll(async () => void (await admin.query(`create database ${name}`)))
  afterAll(async () => {
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  })
  const url = new URL(base)
  url.pathname = `/${name}`
  return { url: url.href }
}

/** Runs a suite with the variables of memory, of PostgreSQL and of Redis, each where there is one. */
export function onEveryServer(suite: (engine: () => Env) => void): void {
  describe('on memory', () => suite(() => ({})))
  describe.skipIf(inject('postgresUrl') === null)('on PostgreSQL', () => {
    if (inject('postgresUrl') === null) return
    const { url } = suiteDatabase()
    suite(() => ({ DATABASE_URL: url }))
  })
  describeRedis('on Redis', () => {
    let redis: Awaited<ReturnType<typeof sharedRedis>>
    beforeAll(async () => void (redis = await sharedRedis()))
    afterAll(() => redis.stop())
    const namespace = freshNamespace()
    suite(() => ({ REDIS_URL: redis.url, POSTHORN_REDIS_NAMESPACE: namespace }))
  })
}
