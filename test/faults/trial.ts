import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import { Pool, type PoolConfig } from 'pg'

import { createPosthorn } from '../../adapters/node/index.ts'
import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { systemClock } from '../../src/clock.ts'
import { freshSchema, type OwnPostgres } from '../support/postgres.ts'
import { startReceiver } from './receiver.ts'
import { counted, type Report, seconds, until } from './report.ts'

/** Something that goes wrong with a PostgreSQL while two instances deliver. */
export interface Fault {
  readonly name: string
  /** Brings it on and resolves when it is over. */
  strike(trial: Trial): Promise<void>
  /** Settings of the instances' connections, as `-c` takes them. */
  readonly settings?: Readonly<Record<string, string>>
  /** How far the clock of each instance is off. Default 0. */
  readonly skewMs?: readonly number[]
  /** Runs before the schema is made; answers settings for the connection that makes it. */
  prepare?(server: OwnPostgres, operator: Pool): Promise<Readonly<Record<string, string>>>
  /** Bytes of each event's data. Default few. */
  readonly bytes?: number
  /** Undoes what was prepared. Twice is fine. */
  after?(): Promise<void>
}

export interface Trial {
  readonly server: OwnPostgres
  readonly schema: string
  /** Connections of the operator's, beside those of the instances. */
  readonly operator: Pool
  readonly pools: readonly Pool[]
  /** How long the fault lasts. */
  readonly lastsMs: number
  /** Lets a fifth of the events be published from now on; otherwise they are when the fault is over. */
  publish(): void
  /** How often a publisher was refused. */
  refusals(): number
  health(): Promise<'UP' | 'DOWN'>
}

export interface Size {
  readonly events: number
  readonly lastsMs: number
  /** How long the endpoint takes to answer. */
  readonly answerMs: number
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const patienceMs = 90_000

/** Publishes and delivers through two instances, before, while and after it strikes, and counts. */
export async function tried(fault: Fault, server: OwnPostgres, { events, lastsMs, answerMs }: Size): Promise<Report> {
  const schema = freshSchema()
  const operator = poolOf({ connectionString: server.url, max: 4 })
  const making = poolOf({
    connectionString: server.url,
    max: 1,
    options: flags((await fault.prepare?.(server, operator)) ?? {}),
  })
  await migrate(making, { schema })
  await making.end()
  // One event in ten fails once.
  const receiver = await startReceiver(answerMs, (event, attempt) => attempt === 1 && event.charCodeAt(25) % 10 === 0)

  const { now, sleep: pause } = systemClock()
  const running = [0, 1].map((i) => {
    const pool = poolOf({
      connectionString: server.url,
      max: 8,
      application_name: schema,
      options: flags(fault.settings ?? {}),
    })
    const posthorn = createPosthorn({
      storage: postgres(pool, { schema }),
      clock: { system: true, now: () => now() + (fault.skewMs?.[i] ?? 0), sleep: pause },
      deliver: { deny: [] },
      logger: silent,
    })
    return { pool, posthorn }
  })
  const first = running[0]!.posthorn
  await first.endpoints.create('default', {
    request: { url: receiver.url },
    events: ['*'],
    retry: { config: { attempts: [0, 1, 1, 1] } },
  })
  for (const { posthorn } of running) await posthorn.start()

  const accepted: string[] = []
  let refusals = 0
  const filling = randomBytes((fault.bytes ?? 2) / 2).toString('hex')
  /** As a careful publisher does: with a unique id, until it is told that the event is stored. */
  const publish = async (n: number): Promise<void> => {
    const { posthorn } = running[n % running.length]!
    for (;;) {
      try {
        const event = { event_type: 'fault', data: { n, filling }, unique_id: `n${n}` }
        accepted.push((await posthorn.events.create('default', event)).id)
        return
      } catch {
        refusals++
        await sleep(50)
      }
    }
  }
  const publishAll = async (from: number, to: number): Promise<void> => {
    let n = Math.floor(from * events)
    const lane = async (): Promise<void> => {
      while (n < Math.floor(to * events)) await publish(n++)
    }
    await Promise.all(Array.from({ length: 32 }, lane))
  }

  const told: string[] = []
  let watching = true
  const watch = async (): Promise<void> => {
    while (watching) {
      const { status } = await first.health()
      if (told.at(-1) !== status) told.push(status)
      await sleep(50)
    }
  }

  const watched = watch()
  await until('health is UP', patienceMs, () => told.at(-1) === 'UP')
  const before = publishAll(0, 0.6)
  await until('a fifth is delivered', patienceMs, () => receiver.events.size >= events / 5)
  let meanwhile: Promise<void> | null = null
  const publishMeanwhile = () => (meanwhile ??= publishAll(0.6, 0.8))
  await fault.strike({
    server,
    schema,
    operator,
    pools: running.map(({ pool }) => pool),
    lastsMs,
    publish: () => void publishMeanwhile(),
    refusals: () => refusals,
    health: async () => (await first.health()).status,
  })
  const over = Date.now()
  await Promise.all([before, publishMeanwhile()])
  const open = async (since: number): Promise<boolean> => {
    const { rowCount } = await operator.query(
      `select from ${schema}.open_anywhere o join ${schema}.attempts a on a.id = o.id where o.workspace is not null and a.created_at <= $1 limit 1`,
      [since],
    )
    return rowCount === 1
  }
  await until('what was accepted before is settled', patienceMs, async () => !(await open(over)))
  const recoverySeconds = seconds(Date.now() - over)
  await publishAll(0.8, 1)
  await until('all is settled', patienceMs, async () => !(await open(Number.MAX_SAFE_INTEGER)))
  await until('health is UP', patienceMs, () => told.at(-1) === 'UP')
  watching = false
  await watched

  const report = await counted(operator, schema, accepted, receiver)
  for (const { posthorn, pool } of running) {
    await posthorn.stop()
    await pool.end()
  }
  receiver.close()
  await operator.query(`drop schema ${schema} cascade`)
  await operator.end()
  await fault.after?.()
  return { fault: fault.name, ...report, refusals, recoverySeconds, health: told.join(', ') }
}

function poolOf(config: PoolConfig): Pool {
  const pool = new Pool(config)
  pool.on('error', () => {}) // a lost connection; whoever asked on it is told
  return pool
}

function flags(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}
