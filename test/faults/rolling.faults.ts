// A rolling update from the package before open attempts stood in the rows of their jobs, its way back, the update again, and
// the step after which the package before is refused, each under traffic. Takes about a minute, most of which is the build
// of the old package.
import { Pool } from 'pg'

import { oneRow } from '../../adapters/postgres/migrations/18-one-row.ts'
import type { Posthorn } from '../../src/surface/posthorn.ts'
import { ownPostgres } from '../support/postgres.ts'
import { type Package, packageBefore, packageIn } from './package-before.ts'
import { seconds, table, until } from './report.ts'

const schema = 'rolling'
const everyMs = 10
const betweenMs = 1_500

const begun = Date.now()
const server = await ownPostgres({ fsync: 'off', full_page_writes: 'off' })
if (server === null) throw new Error('PostgreSQL is not installed here')
const before = await packageBefore()
const now = await packageIn(process.cwd())
console.log(`the package before was built: ${seconds(Date.now() - begun)} s`)

const admin = new Pool({ connectionString: server.url, max: 2 })
const failures: string[] = []
const received = new Map<string, number>()
const http = {
  send: async ({ url, body }: { url: string; body: string | null }) => {
    const key = `${url} ${body}`
    received.set(key, (received.get(key) ?? 0) + 1)
    return { kind: 'response', status: 200, headers: {}, body: '', ended: true } as const
  },
}
const complain = (message: string, details?: { cause?: unknown }) =>
  void failures.push(`${message}: ${details?.cause instanceof Error ? details.cause.message : ''}`)

interface Running {
  readonly posthorn: Posthorn
  end(): Promise<void>
}

async function start({ main, postgres }: Package): Promise<Running> {
  const pool = new Pool({ connectionString: server!.url, max: 5, connectionTimeoutMillis: 5_000, keepAlive: true })
  pool.on('error', () => {})
  const logger = { debug() {}, info() {}, warn: complain, error: complain }
  const posthorn = main.createPosthorn({ storage: postgres.postgres(pool, { schema }), http, logger })
  await posthorn.start()
  return {
    posthorn,
    async end() {
      await posthorn.stop()
      await pool.end()
    },
  }
}

let up: readonly Running[] = []
let published = 0
let endpoints = 0
let isOver = false
const accepted: { readonly n: number; readonly endpoints: number }[] = []

/** Publishes through each process that is up in turn, every third inside a transaction of the host. */
async function traffic(): Promise<void> {
  const pool = new Pool({ connectionString: server!.url, max: 5 })
  for (; !isOver; await new Promise((resolve) => setTimeout(resolve, everyMs))) {
    const n = ++published
    const { posthorn } = up[n % up.length]!
    const there = endpoints
    const event = { event_type: 'x', data: { n }, ...(n % 2 === 0 && { unique_id: `u${n}` }) }
    try {
      if (n % 3 === 0) {
        const client = await pool.connect()
        await client.query('begin')
        await posthorn.using(client).events.create('default', event)
        await client.query('commit')
        client.release()
      } else await posthorn.events.create('default', event)
      accepted.push({ n, endpoints: there })
    } catch (error) {
      failures.push(`publish ${n}: ${String(error)}`)
    }
  }
  await pool.end()
}

/** Replaces the processes one after the other; each new one adds an endpoint. */
async function roll(what: string, next: Package): Promise<void> {
  const since = Date.now()
  for (const old of up) {
    const fresh = await start(next)
    up = [...up.filter((each) => each !== old), fresh]
    await fresh.posthorn.endpoints.create('default', {
      id: `e${endpoints}`,
      request: { url: `https://a.test/${endpoints}` },
      events: ['*'],
    })
    endpoints++
    await old.end()
    await new Promise((resolve) => setTimeout(resolve, betweenMs))
  }
  console.log(`${what}: ${seconds(Date.now() - since)} s`)
}

async function versions(): Promise<readonly number[]> {
  const { rows } = await admin.query<{ version: number }>(`select version from ${schema}.migrations`)
  return rows.map(({ version }) => version)
}

await before.postgres.migrate(admin, { schema })
up = [await start(before), await start(before)]
const publishing = traffic()
await roll('the package before', before)
await now.postgres.migrate(admin, { schema })
await new Promise((resolve) => setTimeout(resolve, betweenMs))
await roll('update', now)
// The old package migrates at its start too.
await before.postgres.migrate(admin, { schema })
await roll('way back', before)
await now.postgres.migrate(admin, { schema })
await roll('update again', now)
if ((await versions()).includes(oneRow.version)) failures.push('the last step did not wait for the processes before')
// More than five minutes later.
await admin.query(`update ${schema}.expansions set applied_at = applied_at - interval '10 minutes'`)
await admin.query(`update ${schema}.processes set seen_at = seen_at - 600000 where schema_version is null`)
await now.postgres.migrate(admin, { schema })
if (!(await versions()).includes(oneRow.version)) failures.push('the last step still waits')
await roll('after the last step', now)
await start(before).then(
  () => failures.push('the package before started after the last step'),
  () => {},
)
isOver = true
await publishing

const missing = () =>
  accepted.flatMap(({ n, endpoints: there }) =>
    Array.from({ length: there }, (_, i) => `https://a.test/${i} {"n":${n}}`).filter((key) => !received.has(key)),
  )
const open = async () => (await admin.query(`select from ${schema}.open_anywhere where workspace is not null`)).rowCount
await until('everything is delivered', 30_000, () => missing().length === 0).catch(() => {})
// An outcome is stored up to 100 ms after the answer.
await until('everything is settled', 30_000, async () => (await open()) === 0).catch(() => {})
const leftOpen = await open()
const twice = [...received.values()].filter((times) => times > 1).length
console.log(
  table([
    {
      published,
      accepted: accepted.length,
      missing: missing().length,
      twice,
      open: leftOpen,
      complaints: failures.length,
    },
  ]),
)
for (const failure of failures.slice(0, 10)) console.error(failure)
await Promise.all(up.map((each) => each.end()))
await admin.end()
await server.stop()
before.remove()
console.log(`all: ${seconds(Date.now() - begun)} s`)
process.exit(missing().length > 0 || twice > 0 || failures.length > 0 || leftOpen !== 0 ? 1 : 0)
