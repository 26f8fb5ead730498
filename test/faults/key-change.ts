import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

import { until } from './report.ts'
import { type Receivers, startReceivers } from './signed-receivers.ts'
import { type ServerProcess, startServer } from './servers.ts'

/** What came of a change of the key that seals. */
export interface KeyChange {
  readonly engine: string
  /** Events whose publisher was told that they are stored, and those of them that their receiver took. */
  readonly accepted: number
  readonly delivered: number
  /** Deliveries whose signature or whose header was not the one of their endpoint. */
  readonly refused: number
  readonly pluginErrors: number
  /** Values that the new key had sealed when `reseal` was killed, of all. */
  readonly sealedAtKill: string
  /** Values of the old key, or in clear, at the end. */
  readonly left: number
  /** Whether a dump in clear says at the end what it said before. */
  readonly same: boolean
}

type Env = Readonly<Record<string, string>>
interface Counted {
  readonly keys: readonly { readonly id: string; readonly values: number }[]
  readonly clear: number
}

const endpoints = 1_500
const publishers = 8
const patienceMs = 120_000
const old = `2026-11:${Buffer.alloc(32, 1).toString('base64')}`
const next = `2026-12:${Buffer.alloc(32, 2).toString('base64')}`

/** @param env the engine, empty, as servers get it */
export async function keyChanged(engine: string, env: Env): Promise<KeyChange> {
  const receivers = await startReceivers(endpoints)
  const withKeys = (...keys: readonly string[]): Env => ({ ...env, POSTHORN_SECRETS_KEYS: keys.join(',') })
  const servers = [await startServer(withKeys(old, next)), await startServer(withKeys(old, next))]
  await configure(servers[0]!, receivers)
  const before = await dump(servers[0]!)
  const traffic = startTraffic(servers)
  await until('deliveries arrive', patienceMs, () => receivers.events.size > 100)

  const replace = async (i: number, keys: Env, how: 'kill' | 'stop'): Promise<void> => {
    await servers[i]![how]()
    servers[i] = await startServer(keys)
  }
  for (const i of [0, 1]) await replace(i, withKeys(next, old), 'stop')
  const sealedAtKill = await killedReseal(withKeys(next, old))
  const resealing = ended(command(withKeys(next, old), 'reseal'))
  await replace(1, withKeys(next, old), 'kill')
  const report = JSON.parse(await resealing) as { readonly left: number }
  const counted = await counts(withKeys(next))
  for (const i of [0, 1]) await replace(i, withKeys(next), 'stop')
  const since = receivers.events.size
  await until('deliveries arrive with the new key alone', patienceMs, () => receivers.events.size > since + 100)

  const accepted = await traffic.end()
  const missing = () => accepted.filter((id) => !receivers.events.has(id)).length
  await until('all is delivered', patienceMs, () => missing() === 0)
  const pluginErrors = await failuresOf(servers[0]!)
  const same = (await dump(servers[0]!)) === before
  for (const server of servers) await server.stop()
  receivers.close()
  return {
    engine,
    accepted: accepted.length,
    delivered: accepted.length - missing(),
    refused: receivers.refused(),
    pluginErrors,
    sealedAtKill,
    left: report.left + counted.clear + valuesOf(counted, '2026-11'),
    same,
  }
}

async function configure({ admin }: ServerProcess, { url, headerOf, secretOf }: Receivers): Promise<void> {
  const document = {
    endpoints: Array.from({ length: endpoints }, (_, n) => ({
      id: `e${n}`,
      request: { url: `${url}${n}`, headers: { authorization: headerOf(n) } },
      events: [`paid.${n}`],
      retry: { config: { attempts: [0, 1, 1] } },
      plugins: [{ name: 'standard-webhooks', config: { secrets: [secretOf(n)] } }],
    })),
  }
  const answer = await fetch(`${admin}/config/sync`, { method: 'POST', body: JSON.stringify(document) })
  if (!answer.ok) throw new Error(`the configuration was refused: ${await answer.text()}`)
}

async function dump({ admin }: ServerProcess): Promise<string> {
  const answer = await fetch(`${admin}/config/dump?secrets=clear&format=json`, { method: 'POST' })
  if (!answer.ok) throw new Error(`no dump: ${await answer.text()}`)
  return await answer.text()
}

async function failuresOf({ admin }: ServerProcess): Promise<number> {
  const answer = await fetch(`${admin}/attempts?status=FAILED&limit=1000`)
  const { data } = (await answer.json()) as { readonly data: readonly { readonly error_code: string | null }[] }
  return data.filter(({ error_code }) => error_code === 'PLUGIN_ERROR').length
}

/** As careful publishers do: with a unique id, until somebody says that the event is stored. */
function startTraffic(servers: readonly ServerProcess[]) {
  const accepted: string[] = []
  let isOver = false
  let published = 0
  const lane = async (): Promise<void> => {
    while (!isOver) {
      const n = published++
      const body = JSON.stringify({ event_type: `paid.${n % endpoints}`, data: { n }, unique_id: `n${n}` })
      for (let tries = n; ; tries++) {
        const { admin } = servers[tries % servers.length]!
        const answer = await fetch(`${admin}/events`, { method: 'POST', body }).catch(() => null)
        if (answer?.ok) {
          accepted.push(((await answer.json()) as { readonly id: string }).id)
          break
        }
        await sleep(50)
      }
      await sleep(20)
    }
  }
  const lanes = Promise.all(Array.from({ length: publishers }, lane))
  return {
    async end(): Promise<readonly string[]> {
      isOver = true
      await lanes
      return accepted
    },
  }
}

function command(env: Env, verb: 'reseal' | 'status') {
  return spawn(process.execPath, ['dist/cli/index.js', 'secrets', verb, '--json'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function ended(child: ReturnType<typeof command>): Promise<string> {
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await once(child, 'close')
  return text
}

async function counts(env: Env): Promise<Counted> {
  return JSON.parse(await ended(command(env, 'status'))) as Counted
}

function valuesOf({ keys }: Counted, id: string): number {
  return keys.find((key) => key.id === id)?.values ?? 0
}

/** Kills a `reseal` once it has sealed something, and not all. Answers how many values it had sealed. */
async function killedReseal(env: Env): Promise<string> {
  const child = command(env, 'reseal')
  const exit = once(child, 'exit')
  child.stdout.resume()
  for (;;) {
    const counted = await Promise.race([counts(env), exit.then(() => null)])
    if (counted === null) throw new Error('reseal ended before it was killed: give it more endpoints')
    if (valuesOf(counted, '2026-12') > 0) break
  }
  child.kill('SIGKILL')
  await exit
  const counted = await counts(env)
  const [done, left] = [valuesOf(counted, '2026-12'), valuesOf(counted, '2026-11')]
  if (left === 0) throw new Error('reseal had sealed everything when it was killed: give it more endpoints')
  return `${done} of ${done + left}`
}
