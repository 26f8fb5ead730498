import { setTimeout as sleep } from 'node:timers/promises'

import { Pool } from 'pg'
import { Agent, request } from 'undici'

import { type Contender, isRun, machine, quick, runApart, say, sideBySide, table } from './compare.ts'
import { engines, freshPlace, openPosthorn } from './engines.ts'
import { listenTo, quantile, sharedNow } from './listener.ts'
import { startServers } from './servers.ts'

// From the call of events.create to the arrival at an endpoint of another process, signed: 100 events a second, then half of
// the most that the engine delivers. Beside it what no such system can do without: commits, a read and a POST, one after the
// other on the same servers.

const rounds = quick ? 1 : 5
const seconds = 3
const perSecond = 100
const most = 3000 // events to measure the highest rate by

const kinds = ['warm-up', '100/s', 'most', 'half'] as const
type Kind = (typeof kinds)[number]

const contenders: Readonly<Record<string, Contender>> = {
  ...Object.fromEntries(
    engines.map((engine): [string, Contender] => [
      engine,
      async (setting) => {
        const { posthorn, close } = await openPosthorn(engine, setting, { deliver: { perEndpoint: 256 } })
        const endpoint = async (kind: string) => {
          const url = `${setting.url}/${encodeURIComponent(`${engine}, ${kind}`)}`
          const { id } = await posthorn.endpoints.create('default', { request: { url }, events: [kind] })
          await posthorn.plugins.create('default', { name: 'standard-webhooks', endpoint_id: id })
        }
        for (const kind of kinds) await endpoint(kind)
        await posthorn.start()
        const publish = (event_type: Kind) =>
          posthorn.events.create('default', { event_type, data: { at: sharedNow(), note: 'n'.repeat(968) } })
        const pace = async (kind: Kind, rate: number, forSeconds = seconds): Promise<void> => {
          const made: Promise<unknown>[] = []
          const startedAt = sharedNow()
          while (made.length < forSeconds * rate) {
            const due = ((sharedNow() - startedAt) * rate) / 1000
            while (made.length < Math.min(due, forSeconds * rate)) made.push(publish(kind))
            await sleep(1)
          }
          await Promise.all(made)
          await posthorn.drain()
        }
        return {
          async work() {
            await pace('warm-up', perSecond, 1)
            await pace('100/s', perSecond)
            const startedAt = sharedNow()
            await sideBySide(most, 256, () => publish('most'))
            await posthorn.drain()
            await pace('half', (500 * most) / (sharedNow() - startedAt))
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
    const all = took.get(name)
    if (all === undefined) took.set(name, [sharedNow() - at])
    else all.push(sharedNow() - at)
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

  say(
    `latency: publish to arrival, ${perSecond} events of 1 KiB a second and half of the most there may be, ${rounds} interleaved runs of ${seconds} s`,
  )
  say(machine())
  table(
    ['', 'p50 ms', 'p99 ms'],
    [...took]
      .filter(([name]) => !/most$|warm-up$/.test(name))
      .map(([name, all]) => [name, quantile(all, 0.5).toFixed(2), quantile(all, 0.99).toFixed(2)]),
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
