import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { Client } from 'pg'

import { freePort } from './postgres.ts'
import { program } from './program.ts'
import { startRedis } from './redis.ts'

const bin = process.env['WEBHOOKX_BIN'] ?? ''

/** Why WebhookX cannot be run here, or null. It needs PostgreSQL and Redis. */
export function withoutWebhookx(postgresUrl: string | null): string | null {
  if (bin === '') return 'WEBHOOKX_BIN is not set (the path of the server of WebhookX 1.2.0)'
  if (!existsSync(bin)) return `WEBHOOKX_BIN: there is no file ${bin}`
  return postgresUrl === null ? 'WebhookX needs a PostgreSQL, and there is none' : null
}

/** A server of WebhookX with a database and a Redis of its own. */
export interface Webhookx {
  readonly admin: string
  readonly gateway: string
  stop(): Promise<void>
}

/** The command line of WebhookX. Answers its output. @throws Error when it fails, with what it said. */
export async function webhookx(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(bin, args, {
    env: { PATH: process.env['PATH'], HOME: tmpdir(), ...env },
  })
  return stdout
}

let databases = 0

export async function startWebhookx(postgresUrl: string, { worker = true } = {}): Promise<Webhookx> {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-webhookx-'))
  const config = join(folder, 'config.yml')
  // Receivers of tests are on loopback.
  writeFileSync(config, 'worker:\n  deliverer:\n    acl:\n      deny: [ ]\n')
  const database = `webhookx_${process.pid}_${Date.now()}_${++databases}`
  await asked(postgresUrl, `create database ${database}`)
  const redis = await startRedis()
  const [adminPort, gatewayPort, statusPort] = [await freePort(), await freePort(), await freePort()]
  const { hostname, port, username } = new URL(postgresUrl)
  const redisPort = new URL(redis.url).port
  const env = {
    WEBHOOKX_DATABASE_HOST: hostname,
    WEBHOOKX_DATABASE_PORT: port,
    WEBHOOKX_DATABASE_USERNAME: username,
    WEBHOOKX_DATABASE_DATABASE: database,
    WEBHOOKX_REDIS_HOST: '127.0.0.1',
    WEBHOOKX_REDIS_PORT: redisPort,
    WEBHOOKX_PROXY_QUEUE_REDIS_HOST: '127.0.0.1',
    WEBHOOKX_PROXY_QUEUE_REDIS_PORT: redisPort,
    WEBHOOKX_ADMIN_LISTEN: `127.0.0.1:${adminPort}`,
    WEBHOOKX_PROXY_LISTEN: `127.0.0.1:${gatewayPort}`,
    WEBHOOKX_STATUS_LISTEN: `127.0.0.1:${statusPort}`,
    WEBHOOKX_WORKER_ENABLED: String(worker),
    // It opens /dev/stdout by its name, which a pipe of Node does not allow.
    WEBHOOKX_LOG_FILE: join(folder, 'log'),
    WEBHOOKX_ACCESS_LOG_ENABLED: 'false',
    WEBHOOKX_ANONYMOUS_REPORTS: 'false',
  }
  await webhookx(['db', 'up', '--config', config], env)
  const server = program(bin, ['start', '--config', config], { env })
  const admin = `http://127.0.0.1:${adminPort}`
  const gateway = `http://127.0.0.1:${gatewayPort}`
  await Promise.race([Promise.all([answering(admin), answering(gateway)]), server.ended()])
  return {
    admin,
    gateway,
    async stop() {
      await server.kill()
      await redis.stop()
      await asked(postgresUrl, `drop database ${database} with (force)`)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function asked(url: string, statement: string): Promise<void> {
  const client = new Client(url)
  await client.connect()
  await client.query(statement)
  await client.end()
}

async function answering(url: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    const answer = await fetch(url).catch(() => null)
    await answer?.body?.cancel()
    if (answer !== null) return
    if (tries === 300) throw new Error(`WebhookX does not answer at ${url}`)
    await sleep(50)
  }
}
