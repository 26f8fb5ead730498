import { setTimeout as sleep } from 'node:timers/promises'

import { Redis } from 'ioredis'
import { Client } from 'pg'

import { type Contender, isRun, machine, quick, type Run, runApart, say, table } from './compare.ts'
import { engines, freshPlace, openPosthorn } from './engines.ts'
import { startServers } from './servers.ts'

// What a started worker asks of its engine, and of the processor, while nothing is due.

const settlingMs = quick ? 15_000 : 20_000
const watchedMs = quick ? 15_000 : 60_000 // some work is done once a minute

/** Statements and commands that the servers have answered so far. */
async function commands(servers: { postgres: string; redis: string }): Promise<number> {
  const client = new Client(servers.postgres)
  await client.connect()
  const { rows } = await client.query<{ n: string }>(
    'select xact_commit as n from pg_stat_database where datname = current_database()',
  )
  await client.end()
  const redis = new Redis(servers.redis)
  const answered = /total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1]
  redis.disconnect()
  return Number(rows[0]!.n) + Number(answered)
}

const contenders: Readonly<Record<string, Contender>> = {
  'no worker': async () => ({ work: () => sleep(watchedMs), close: async () => {} }),
  ...Object.fromEntries(
    engines.map((engine): [string, Contender] => [
      engine,
      async (setting) => {
        const { posthorn, close } = await openPosthorn(engine, setting)
        await posthorn.start()
        await sleep(settlingMs) // it asks less and less often
        const first = await commands(setting)
        const before = await commands(setting)
        const own = before - first // what a count adds to the next
        return {
          async work() {
            await sleep(watchedMs)
          },
          async check() {
            const perMinute = ((await commands(setting)) - before - own) * (60_000 / watchedMs)
            say(`${engine}: ${perMinute.toFixed(0)} statements and commands a minute, commands of scripts included`)
          },
          async close() {
            await posthorn.stop()
            await close()
          },
        }
      },
    ]),
  ),
}

async function main(): Promise<void> {
  const servers = await startServers()
  const runs: [string, Run][] = []
  say(`idle: a worker with nothing due, over ${watchedMs / 1000} s, ${settlingMs / 1000} s after its start`)
  say(machine())
  for (const name of Object.keys(contenders)) {
    runs.push([name, await runApart(name, { ...freshPlace(servers), url: '', events: 0, data: '' })])
  }
  await servers.stop()
  table(
    ['', 'CPU ms/minute', 'peak MiB'],
    runs.map(([name, { cpuSeconds, peakMiB }]) => [
      name,
      (cpuSeconds * 1000 * (60_000 / watchedMs)).toFixed(0),
      peakMiB.toFixed(0),
    ]),
  )
}

if (!(await isRun(contenders))) {
  await main()
  process.exit()
}
