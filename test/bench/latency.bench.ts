import { setTimeout as sleep } from 'node:timers/promises'

import { Pool } from 'pg'
import { Agent, request } from 'undici'

import { type Contender, isRun, machine, quick, runApart, say, table } from './compare.ts'
import { engines, freshPlace, openPosthorn } from './engines.ts'
import { listenTo, quantile, sharedNow } from './listener.ts'
import { startServers } from './servers.ts'

// From the call of events.create to the arrival at an endpoint of another process, signed, 100 events a second. Beside it
// what no such system can do without: commits, a read and a POST, one after the other on the same servers.

const rounds = quick ? 1 : 5
const seconds = quick ? 3 : 5
const perSecond = 100

const contenders: Readonly<Record<string, Contender>> = {
  ...Object.fromEntries(
    engines.map((engine): [string, Contender] => [
      engine,
      async (setting) => {
        const { posthorn, close } = await openPosthorn(engine, setting)
        const endpoint = await posthorn.endpoints.create('default', {
          request: { url: `${setting.url}/${encodeURIComponent(engine)}` },
          events: ['*'],
        })
        await posthorn.plugins.create('default', { name: 'standard-webhooks', endpoint_id: endpoint.id })
        await posthorn.start()
        return {
          async work() {
            const startedAt = sharedNow()
            const made: Promise<unknown>[] = []
            for (let i = 0; i < seconds * perSecond; i++) {
              await sleep(Math.max(0, startedAt + (i * 1000) / perSecond - sharedNow()))
              const data = { at: sharedNow(), note: 'n'.repeat(968) }
              made.push(posthorn.events.create('default', { event_type: 'bench.event', data }))
            }
            await Promise.all(made)
            await posthorn.drain()
          },
          async close() {
            await posthorn.stop()
            await close()
          },
        }
      },
    ]),
  ),
  'bare POST': async ({ url }) => {
    const dispatcher = new Agent({ connections: 1, pipelining: 1 })
    return {
      async work() {
        for (let i = 0; i < 300; i++) {
          const body = JSON.stringify({ at: sharedNow(), note: 'n'.repeat(968) })
          await (await request(`${url}/bare`, { dispatcher, method: 'POST', body })).body.text()
          await sleep(5)
        }
      },
      close: () => dispatcher.close(),
    }
  },
}

/** Milliseconds of one commit of a row of 1 KiB, and of reading it, at the same pace. */
async function bareStatements(url: string): Promise<{ commit: number; read: number }> {
  const pool = new Pool({ connectionString: url, max: 1 })
  await pool.query('create table if not exists bare (id int primary key, data text); truncate bare')
  const commits: number[] = []
  const reads: number[] = []
  for (let i = 0; i < 300; i++) {
    const startedAt = sharedNow()
    await pool.query({ name: 'put', text: 'insert into bare values ($1, $2)', values: [i, 'n'.repeat(1024)] })
    const storedAt = sharedNow()
    await pool.query({ name: 'get', text: 'select * from bare where id = $1', values: [i] })
    commits.push(storedAt - startedAt)
    reads.push(sharedNow() - storedAt)
    await sleep(5)
  }
  await pool.end()
  return { commit: quantile(commits, 0.5), read: quantile(reads, 0.5) }
}

async function main(): Promise<void> {
  const took = new Map<string, number[]>()
  const listener = await listenTo((path, body) => {
    const { at } = JSON.parse(body) as { at: number } // as it was published
    const name = decodeURIComponent(path.slice(1))
    took.set(name, [...(took.get(name) ?? []), sharedNow() - at])
  })
  const servers = await startServers()
  const statements: { commit: number; read: number }[] = []
  for (let round = 0; round < rounds; round++) {
    for (const name of Object.keys(contenders)) {
      await runApart(name, { ...freshPlace(servers), url: listener.base, events: 0, data: '' })
    }
    statements.push(await bareStatements(servers.postgres))
  }
  await servers.stop()
  listener.close()

  say(`latency: publish to arrival, ${perSecond} events of 1 KiB a second, ${rounds} interleaved runs of ${seconds} s`)
  say(machine())
  table(
    ['', 'p50 ms', 'p99 ms'],
    [...took].map(([name, all]) => [name, quantile(all, 0.5).toFixed(2), quantile(all, 0.99).toFixed(2)]),
  )
  const commit = quantile(
    statements.map((each) => each.commit),
    0.5,
  )
  const read = quantile(
    statements.map((each) => each.read),
    0.5,
  )
  const post = quantile(took.get('bare') ?? [], 0.5)
  say(
    `on Postgres: one commit ${commit.toFixed(2)} ms, one read ${read.toFixed(2)} ms, one bare POST ${post.toFixed(2)} ms`,
  )
  say(`2 commits + read + POST + 3 ms = ${(2 * commit + read + post + 3).toFixed(2)} ms is the most that p50 may be`)
}

if (!(await isRun(contenders))) {
  await main()
  process.exit()
}
