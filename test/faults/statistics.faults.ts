// Kills workers again and again in the midst of deliveries, folds and operational events, on PostgreSQL and on Redis. In the
// end the statistics must say what the attempts say, and each cause must have its event once.
//
// Half of the workers are stopped before each operational event is stored, so that they die between cause and event.
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { Pool } from 'pg'

import { createPosthorn, type Posthorn } from '../../adapters/node/index.ts'
import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { openRedis } from '../../adapters/redis/index.ts'
import { intercepted } from '../../src/testing/intercept.ts'
import { ownPostgres } from '../support/postgres.ts'
import { program } from '../support/program.ts'
import { startRedis } from '../support/redis.ts'
import { table, until } from './report.ts'

const kills = Number(process.env['FAULT_KILLS'] ?? 50)
const events = 40 * kills
const oneIn = 5
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

async function open(url: string, stalls: boolean): Promise<{ posthorn: Posthorn; close(): Promise<void> }> {
  const pool = url.startsWith('postgres') ? new Pool({ connectionString: url, max: 4 }) : null
  pool?.on('error', () => {})
  const engine = pool === null ? await openRedis(url) : postgres(pool)
  const storage = intercepted(engine, async (name, call) => {
    if (stalls && name === 'causes.list') await new Promise(() => {}) // nothing is published before it dies
    return await call()
  })
  const posthorn = createPosthorn({
    storage,
    logger: quiet,
    operations: { workspace: 'ops' },
    deliver: { concurrency: 8, perEndpoint: 4 },
    http: {
      async send({ body }) {
        await sleep(Math.random() * 10)
        const { n } = JSON.parse(String(body)) as { n: number } // as it is published below
        return { kind: 'response', status: n % oneIn === 0 ? 500 : 200, headers: {}, body: '', ended: true }
      },
    },
  })
  const close = async (): Promise<void> => {
    await pool?.end()
  }
  return { posthorn, close }
}

/** The process that is killed: says that it works, and that it has seen a cause. */
async function work(url: string): Promise<void> {
  const { posthorn } = await open(url, process.env['FAULT_STALLS'] === '1')
  posthorn.on('exhausted', () => console.log('cause'))
  await posthorn.start()
  console.log('ready')
}

async function trial(name: string, url: string) {
  const { posthorn, close } = await open(url, false)
  for (let i = 0; i < 4; i++) {
    const retry = { config: { attempts: [0, 0, 0].slice(0, 1 + (i % 2)) } }
    await posthorn.endpoints.create('default', { request: { url: `https://${i}.test/` }, events: [`type.${i}`], retry })
  }
  const publishing = (async () => {
    for (let n = 0; n < events; n++) {
      await posthorn.events.create('default', { event_type: `type.${n % 4}`, data: { n } })
      await sleep(1)
    }
  })()
  const me = fileURLToPath(import.meta.url)
  let between = 0
  for (let kill = 0; kill < kills; kill++) {
    const env = { FAULT_WORKER: url, FAULT_STALLS: String(kill % 2) }
    const worker = program(process.execPath, [me], { env })
    await worker.says(kill % 2 === 1 ? /^cause$/ : /^ready$/)
    await sleep(kill % 2 === 1 ? 0 : Math.random() * 60)
    await worker.kill()
    if (kill % 2 === 1) between++
    if (kill % 5 === 0) await posthorn.stats('default') // who asks folds too
  }
  await publishing
  await posthorn.start()
  await until('all is settled', 120_000, async () => (await posthorn.status()).queue.size === 0)
  await posthorn.tick()
  const exhausted = new Set<string>()
  const sum = { succeeded: 0, failed: 0, exhausted: 0, canceled: 0 }
  for await (const attempt of posthorn.attempts.each('default', { limit: 1000 })) {
    if (attempt.status === 'SUCCESSFUL') sum.succeeded++
    if (attempt.status === 'FAILED') sum.failed++
    if (attempt.status === 'CANCELED') sum.canceled++
    if (!attempt.exhausted) continue
    sum.exhausted++
    exhausted.add(attempt.id)
  }
  const told = new Map<string, number>()
  const look = async (): Promise<boolean> => {
    told.clear()
    for await (const { event_type, data } of posthorn.events.each('ops', { limit: 1000 })) {
      if (event_type !== 'posthorn.delivery.exhausted') continue
      const { attempt_id } = data as { attempt_id: string } // as its page says
      told.set(attempt_id, (told.get(attempt_id) ?? 0) + 1)
    }
    return [...exhausted].every((id) => told.has(id))
  }
  await until('each cause has its event', 70_000, look)
  const counted = await Promise.all(
    (['minute', 'hour', 'day'] as const).map(async (step) => {
      const { data } = await posthorn.stats('default', { step })
      const totals = { succeeded: 0, failed: 0, exhausted: 0, canceled: 0 }
      for (const bucket of data)
        for (const key of Object.keys(totals) as (keyof typeof totals)[]) totals[key] += bucket[key]
      return JSON.stringify(totals)
    }),
  )
  await posthorn.stop()
  await close()
  const isExact = counted.every((totals) => totals === JSON.stringify(sum))
  if (!isExact) console.log(`${name}: counted ${counted.join(' ')}, and there are ${JSON.stringify(sum)}`)
  const twice = [...told.values()].filter((count) => count > 1).length
  const strange = [...told.keys()].filter((id) => !exhausted.has(id)).length
  return { engine: name, kills, between, ...sum, exact: isExact, told: told.size, twice, strange }
}

async function main(): Promise<void> {
  const named = process.env['FAULT_ENGINE'] ?? ''
  const reports = []
  if ('postgres'.startsWith(named)) {
    const server = await ownPostgres()
    if (server === null) throw new Error('PostgreSQL is not installed here')
    const pool = new Pool({ connectionString: server.url, max: 1 })
    await migrate(pool)
    await pool.end()
    reports.push(await trial('postgres', server.url))
    await server.stop()
  }
  if ('redis'.startsWith(named)) {
    const server = await startRedis()
    reports.push(await trial('redis', server.url))
    await server.stop()
  }
  console.log(table(reports))
  const holds = reports.every(
    ({ exact, told, exhausted, twice, strange }) => exact && told === exhausted && twice + strange === 0,
  )
  process.exit(holds ? 0 : 1)
}

const worker = process.env['FAULT_WORKER']
if (worker === undefined) await main()
else await work(worker)
