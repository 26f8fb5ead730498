import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { Client, Pool } from 'pg'
import postgresJs from 'postgres'

import { clientOf } from '../../adapters/postgres/client-of.ts'
import type { PostgresHandle } from '../../adapters/postgres/clients.ts'
import { migrate, postgres, type PostgresOptions } from '../../adapters/postgres/index.ts'

export interface TestPostgres {
  /** Null where there is no server: then tests run on PGlite, which is one backend. */
  readonly url: string | null
  stop(): Promise<void>
}

/** A server of a test's own, which it may crash. */
export interface OwnPostgres {
  readonly url: string
  /** The user that the server runs as, when that is not the one who asks. */
  readonly user: { readonly uid: number; readonly gid: number } | null
  /** Ends it at once, as its own crash would. */
  crash(): Promise<void>
  /** Starts it again on the same port, with the same data. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** Safe against everything but a power cut, and quick. */
const quick = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' }

/** A PostgreSQL for one test run: POSTHORN_TEST_DATABASE_URL, else one of our own. `settings` are those of postgresql.conf. */
export async function startPostgres(settings: Readonly<Record<string, string>> = quick): Promise<TestPostgres> {
  const given = process.env['POSTHORN_TEST_DATABASE_URL']
  if (given !== undefined && given !== '') return { url: given, stop: async () => {} }
  return (await ownPostgres(settings)) ?? { url: null, stop: async () => {} }
}

/** Local binaries on a free port in a temporary folder; null where there are none. */
export async function ownPostgres(settings: Readonly<Record<string, string>> = quick): Promise<OwnPostgres | null> {
  const bin = binaries()
  if (bin === null) return null

  const user = unprivileged()
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-pg-'))
  if (user !== null) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '-N']
  await promisify(execFile)(join(bin, 'initdb'), initdb, { ...user, cwd: folder })

  const port = await freePort()
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const args = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', '', ...flags]
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  let server: ChildProcess
  const kill = (): void => void server.kill('SIGKILL')
  const start = async (): Promise<void> => {
    server = spawn(join(bin, 'postgres'), args, { ...user, cwd: folder, stdio: 'ignore' })
    await answering(url, () => server.exitCode)
  }
  const crash = async (): Promise<void> => {
    if (server.exitCode !== null) return
    const exit = once(server, 'exit')
    server.kill('SIGQUIT') // at once: nothing is written down any more
    await exit
  }
  process.once('exit', kill)
  await start()
  return {
    url,
    user,
    crash,
    start,
    async stop() {
      process.off('exit', kill)
      await crash()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function binaries(): string | null {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...(process.env['PATH'] ?? '').split(':'),
    ...versions.map((version) => join(debian, version, 'bin')),
    '/opt/homebrew/opt/postgresql/bin',
  ]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'))) ?? null
}

/** initdb refuses root, so root runs it as another user. */
export function unprivileged(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {
      // No such user here.
    }
  }
  throw new Error('Running as root, and there is neither a user postgres nor nobody to run a server as')
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a TCP server's address is one
  server.close()
  await once(server, 'close')
  return port
}

/** Waits until the server takes connections. */
async function answering(url: string, exitCode: () => number | null): Promise<void> {
  for (let tries = 1; ; tries++) {
    const client = new Client(url)
    try {
      await client.connect()
      return await client.end()
    } catch (error) {
      if (exitCode() !== null) throw new Error(`postgres ended with code ${exitCode()}`, { cause: error })
      if (tries === 500) throw new Error('postgres did not start', { cause: error })
      await sleep(10)
    }
  }
}

let schemas = 0

/** The name of a schema that no other test uses. */
export function freshSchema(): string {
  return `t${process.pid}_${process.env['VITEST_WORKER_ID'] ?? '0'}_${Date.now().toString(36)}_${++schemas}`
}

export interface TestClient {
  readonly name: string
  open(url: string): { readonly handle: PostgresHandle; close(): Promise<void> }
}

/** The drivers, each as a host would set it up. */
export const clients: readonly TestClient[] = [
  {
    name: 'pg',
    open(url) {
      const pool = new Pool({ connectionString: url, max: 20 })
      pool.on('error', () => {})
      return { handle: pool, close: () => pool.end() }
    },
  },
  {
    name: 'postgres.js',
    open(url) {
      const sql = postgresJs(url, { max: 20, fetch_types: false, onnotice: () => {} })
      return { handle: sql, close: () => sql.end({ timeout: 1 }) }
    },
  },
]

/** Storages over one handle, each in a schema of its own, which is emptied for the next one: that is faster than a new one. */
export function schemasOf(handle: PostgresHandle) {
  const all: string[] = []
  const free: string[] = []
  const run = (text: string) => clientOf(handle).query(text, [])
  return {
    async open(options: PostgresOptions = {}) {
      const schema = free.pop() ?? freshSchema()
      if (!all.includes(schema)) {
        all.push(schema)
        await migrate(handle, { schema })
      }
      const subject = postgres(handle, { schema, ...options })
      return {
        schema,
        subject,
        async close() {
          await subject.close()
          await run(emptying(schema))
          free.push(schema)
        },
      }
    },
    async drop() {
      for (const schema of all) await run(`drop schema ${schema} cascade`)
    },
  }
}

/** Tables that hold rows, those that refer to others first. Deleting workspaces deletes their configuration. */
const filled = `open_attempts revisited outcomes attempts unique_ids events workspaces graves tallies
  notes minute_sums hour_sums day_sums counted_types streaks causes processes keyed_requests
  jobs groups lines hints messages dead_messages limits turns`.split(/\s+/)

/** One statement that empties a schema: faster than a new one. */
export function emptying(schema: string): string {
  return `do $$ begin ${filled.map((table) => `delete from ${schema}.${table};`).join(' ')} end $$`
}

/** The same, slower, without dead rows: those change in which order a statement finds rows that it does not sort. */
export function truncating(schema: string): string {
  return `truncate ${filled.map((table) => `${schema}.${table}`).join(', ')} cascade`
}
