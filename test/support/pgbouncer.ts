import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { Client } from 'pg'
import { describe } from 'vitest'

import { freePort, unprivileged } from './postgres.ts'

// Debian puts it where only root looks.
const path = `${process.env['PATH'] ?? ''}:/usr/sbin`
const there = spawnSync('pgbouncer', ['--version'], { env: { ...process.env, PATH: path } }).status === 0

/** A PgBouncer of a test's own in transaction mode, with `servers` connections to the server for all its clients. */
export async function startPgbouncer(
  server: string,
  { servers }: { servers: number },
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-pgbouncer-'))
  chmodSync(folder, 0o755)
  const { hostname, port, username, password, pathname } = new URL(server)
  const target = [
    `host=${hostname} port=${port} dbname=${pathname.slice(1)} user=${decodeURIComponent(username)}`,
    ...(password === '' ? [] : [`password=${decodeURIComponent(password)}`]),
  ].join(' ')
  const listenPort = await freePort()
  const config = join(folder, 'pgbouncer.ini')
  writeFileSync(
    config,
    `[databases]
shop = ${target}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${servers}
max_client_conn = 200
`,
  )
  const child: ChildProcess = spawn('pgbouncer', [config], {
    ...unprivileged(),
    cwd: folder,
    env: { ...process.env, PATH: path },
    stdio: 'ignore',
  })
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  const url = `postgres://shop@127.0.0.1:${listenPort}/shop`
  await answering(url, child)
  return {
    url,
    async stop() {
      process.off('exit', kill)
      if (child.exitCode === null) {
        kill()
        await once(child, 'exit')
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function answering(url: string, { exitCode }: ChildProcess): Promise<void> {
  for (let tries = 1; ; tries++) {
    const client = new Client(url)
    try {
      await client.connect()
      return await client.end()
    } catch (error) {
      if (exitCode !== null || tries === 300) throw new Error('pgbouncer did not start', { cause: error })
      await sleep(20)
    }
  }
}

/** Suites that need a PgBouncer and a server behind it; where there is none they are skipped, which is a failure in CI. */
export function describePgbouncer(server: string | null): typeof describe.skip {
  if (there && server !== null) return describe
  if (process.env['CI'] !== undefined) throw new Error('There is no pgbouncer, so suites behind it cannot run')
  process.stderr.write('SKIPPED: there is no pgbouncer (apt-get install pgbouncer), so suites behind it do not run\n')
  return describe.skip
}
