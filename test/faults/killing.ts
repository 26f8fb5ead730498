import { setTimeout as sleep } from 'node:timers/promises'

import { Pool } from 'pg'

import { startReceiver } from './receiver.ts'
import { counted, type Report, seconds, until } from './report.ts'
import { type ServerProcess, startServer } from './servers.ts'

export interface Killing {
  /** Of an empty database of its own. */
  readonly databaseUrl: string
  readonly events: number
  /** How many processes die; each but the last is replaced. */
  readonly kills: number
  readonly everyMs: number
  /** How long the endpoint takes to answer. */
  readonly answerMs: number
}

export interface KillingReport extends Report {
  /** Requests made by each server that was there at the end. */
  readonly shares: string
}

const patienceMs = 120_000

/**
 * Two servers on one database. What one configures the other obeys at once; then they share deliveries, and are
 * killed in the midst of them.
 * @throws Error when a server does not obey what the other was told.
 */
export async function killed({ databaseUrl, events, kills, everyMs, answerMs }: Killing): Promise<KillingReport> {
  const env = { DATABASE_URL: databaseUrl }
  const receiver = await startReceiver(answerMs)
  const pool = new Pool({ connectionString: databaseUrl, max: 2 })
  const servers = [await startServer(env), await startServer(env)]
  await obeyed(servers, receiver.url)

  const accepted: string[] = []
  let refusals = 0
  let next = 0
  const publishAll = async (): Promise<void> => {
    while (next < events) {
      const n = next++
      // As a careful publisher does: with a unique id, until somebody says that the event is stored.
      for (let tries = n; ; tries++) {
        const { admin } = servers[tries % servers.length]!
        const answer = await post(`${admin}/events`, { event_type: 'paid', data: { n }, unique_id: `n${n}` })
        if (answer !== null && answer.status < 300) {
          accepted.push(answer.body['id'] as string) // an event has one
          break
        }
        refusals++
        await sleep(50)
      }
    }
  }
  const requests = async ({ status }: ServerProcess): Promise<number> => {
    const report = (await (await fetch(status)).json()) as { outbound_requests: number }
    return report.outbound_requests
  }

  const publishing = Promise.all(Array.from({ length: 16 }, publishAll))
  await until('half is delivered', patienceMs, () => receiver.events.size >= events / 2)
  const before = await Promise.all(servers.map(requests))
  for (let i = 1; i <= kills; i++) {
    const victim = i % 2
    await servers[victim]!.kill()
    if (i === kills) servers.splice(victim, 1)
    else {
      servers[victim] = await startServer(env)
      await sleep(everyMs)
    }
  }
  const over = Date.now()
  const isOpen = async (since: number): Promise<boolean> => {
    const { rowCount } = await pool.query(
      `select from posthorn.open_anywhere o join posthorn.attempts a on a.id = o.id where o.workspace is not null and a.created_at <= $1 limit 1`,
      [since],
    )
    return rowCount === 1
  }
  await until('what was accepted before is settled', patienceMs, async () => !(await isOpen(over)))
  const recoverySeconds = seconds(Date.now() - over)
  await publishing
  await until('all is settled', patienceMs, async () => !(await isOpen(Number.MAX_SAFE_INTEGER)))

  const [survivor] = servers
  const health = await fetch(`${survivor!.status}/health`)
  const report = await counted(pool, 'posthorn', accepted, receiver)
  await survivor!.stop()
  await pool.end()
  receiver.close()
  return {
    fault: kills === 1 ? 'one of two killed' : `${kills} kills of two`,
    ...report,
    refusals,
    recoverySeconds,
    health: ((await health.json()) as { status: string }).status,
    shares: before.join(' and '),
  }
}

/** Makes the endpoint through one server, disables and enables it through the other, and looks what each does with it. */
async function obeyed([one, other]: readonly ServerProcess[], url: string): Promise<void> {
  const made = await post(`${one!.admin}/endpoints`, { request: { url }, events: ['paid'] })
  const endpoint = `/endpoints/${made!.body['id'] as string}` // it was made
  const matches = async ({ admin }: ServerProcess): Promise<boolean> => {
    const event = await post(`${admin}/events`, { event_type: 'paid', data: {} })
    const attempts = await fetch(`${admin}/attempts?event_id=${event!.body['id'] as string}`)
    return ((await attempts.json()) as { total: number }).total === 1
  }
  const enable = (server: ServerProcess, enabled: boolean) => post(`${server.admin}${endpoint}`, { enabled }, 'PUT')
  for (let round = 0; round < 5; round++) {
    if (!(await matches(other!))) throw new Error('a new endpoint was not seen by the other server')
    await enable(other!, false)
    if (await matches(one!)) throw new Error('a disabled endpoint was still served by the other server')
    await enable(one!, true)
  }
}

/** Null when there is no answer. */
async function post(
  url: string,
  body: object,
  method = 'POST',
): Promise<{ status: number; body: Record<string, unknown> } | null> {
  try {
    const response = await fetch(url, { method, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> } // all answers are objects
  } catch {
    return null
  }
}
