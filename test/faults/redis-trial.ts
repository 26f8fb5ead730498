import { setTimeout as sleep } from 'node:timers/promises'

import { clients, startRedis, type TestClient, type TestRedis } from '../support/redis.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { type Report, seconds, until } from './report.ts'
import { type ServerProcess, startServer } from './servers.ts'

/** Something that goes wrong with a Redis, or beside it, while two processes deliver. */
export interface RedisFault {
  readonly name: string
  /** Of redis.conf. */
  readonly settings: Readonly<Record<string, string>>
  /** Whether what an async source accepted must outlive it: then half of the events go that way. */
  readonly inbox: boolean
  /** Brings it on once and resolves when it is over. */
  strike(trial: RedisTrial): Promise<void>
}

export interface RedisTrial {
  readonly redis: TestRedis
  /** Sends a command as an operator would. */
  readonly command: TestClient['command']
  /** Kills one of the two processes, another one each time, and starts a new one in its place. */
  replace(): Promise<void>
}

export interface RedisTrialSize {
  readonly events: number
  readonly strikes: number
  /** From the end of one strike to the next. */
  readonly everyMs: number
  /** How long the endpoint takes to answer. */
  readonly answerMs: number
}

const patienceMs = 240_000

/**
 * Two servers on a Redis of their own, with storage in an empty database or, where that is null, on Redis too.
 * It strikes again and again while publishers and both servers work.
 */
export async function redisTried(
  fault: RedisFault,
  databaseUrl: string | null,
  { events, strikes, everyMs, answerMs }: RedisTrialSize,
): Promise<Report> {
  const redis = await startRedis(fault.settings)
  const operator = await clients[0]!.open(redis.url)
  const env = { REDIS_URL: redis.url, ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }) }
  const servers = [await startServer(env), await startServer(env)]
  // One event in ten fails once.
  const receiver = await startReceiver(answerMs, (event, attempt) => attempt === 1 && event.charCodeAt(25) % 10 === 0)
  await post(`${servers[0]!.admin}/endpoints`, {
    request: { url: receiver.url },
    events: ['*'],
    retry: { config: { attempts: [0, 1, 1, 1] } },
    rate_limit: { quota: 100_000, period: 1 },
  })
  await post(`${servers[0]!.admin}/sources`, { async: true, config: { http: { path: '/later' } } })

  const accepted = new Set<string>()
  let refusals = 0
  let next = 0
  /** As careful publishers do: until somebody says that the event is taken. */
  const publishAll = async (): Promise<void> => {
    while (next < events) {
      const n = next++
      const later = fault.inbox && n % 2 === 1
      const event = { event_type: 'paid', data: { n }, ...(!later && { unique_id: `n${n}` }) }
      for (let tries = n >> 1; ; tries++) {
        const { admin, gateway } = servers[tries % servers.length]!
        const id = await (later ? post(`${gateway}/later`, event) : post(`${admin}/events`, event))
        if (id !== null) {
          accepted.add(id)
          break
        }
        refusals++
        await sleep(50)
      }
    }
  }

  const publishing = Promise.all(Array.from({ length: 16 }, publishAll))
  await until('a tenth is delivered', patienceMs, () => receiver.events.size >= events / 10)
  let kills = 0
  const replace = async (): Promise<void> => {
    const victim = kills++ % servers.length
    await servers[victim]!.kill()
    servers[victim] = await startServer(env)
  }
  for (let strike = 1; strike <= strikes; strike++) {
    await fault.strike({ redis, command: operator.command, replace })
    if (strike < strikes) await sleep(everyMs)
  }
  const over = Date.now()
  const before = [...accepted]
  await until('what was accepted before is delivered', patienceMs, () => before.every((id) => receiver.events.has(id)))
  const recoverySeconds = seconds(Date.now() - over)
  await publishing
  const [server] = servers
  await until('all is settled', patienceMs, () => isSettled(server!))

  const health = await fetch(`${server!.status}/health`)
  const report = await counted(server!, accepted, receiver)
  for (const each of servers) await each.stop()
  operator.close()
  receiver.close()
  await redis.stop()
  return {
    fault: `${databaseUrl === null ? 'redis' : 'postgres + redis'}: ${strikes} × ${fault.name}`,
    ...report,
    refusals,
    recoverySeconds,
    health: ((await health.json()) as { status: string }).status,
  }
}

/** Answers the id of the row or event that was made, and null when it was refused or nobody answered. */
async function post(url: string, body: object): Promise<string | null> {
  try {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
    const { id } = (await response.json()) as { id?: string }
    return response.ok ? (id ?? response.headers.get('webhook-event-id')) : null
  } catch {
    return null
  }
}

async function isSettled({ admin, status }: ServerProcess): Promise<boolean> {
  const { event } = (await (await fetch(status)).json()) as { event: { pending: number } }
  if (event.pending > 0) return false
  for (const wanted of ['QUEUED', 'INIT']) {
    if ((await page(`${admin}/attempts?limit=1&status=${wanted}`)).data.length > 0) return false
  }
  return true
}

interface Page {
  readonly data: readonly { event_id: string; status: string; attempt_number: number }[]
  readonly next: string | null
}

async function page(url: string): Promise<Page> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Page
}

/** Reads all attempts, and what the endpoint saw. */
async function counted(
  { admin }: ServerProcess,
  accepted: ReadonlySet<string>,
  receiver: Receiver,
): Promise<Pick<Report, 'accepted' | 'delivered' | 'settledOnce' | 'duplicates'>> {
  const attempts = new Map<string, Page['data'][number][]>()
  for (let uri: string | null = '/attempts?limit=1000'; uri !== null;) {
    const { data, next }: Page = await page(`${admin}${uri}`)
    for (const attempt of data) attempts.set(attempt.event_id, [...(attempts.get(attempt.event_id) ?? []), attempt])
    uri = next
  }
  const once = (id: string): boolean => {
    const all = attempts.get(id) ?? []
    return (
      all.filter(({ status }) => status === 'SUCCESSFUL').length === 1 &&
      all.every(({ status }) => status === 'SUCCESSFUL' || status === 'FAILED') &&
      new Set(all.map((attempt) => attempt.attempt_number)).size === all.length
    )
  }
  return {
    accepted: accepted.size,
    delivered: [...accepted].filter((id) => receiver.events.has(id)).length,
    settledOnce: [...accepted].filter(once).length,
    duplicates: [...receiver.attempts.values()].reduce((sum, requests) => sum + requests - 1, 0),
  }
}
