import { setTimeout as sleep } from 'node:timers/promises'

import { startReceiver } from './receiver.ts'
import { seconds, until } from './report.ts'
import { startServer } from './servers.ts'

export interface SuccessorReport {
  readonly engines: string
  /** From the start of the successor's process until it answered a request for what is stored. */
  readonly answersAfterMs: number
  /** Deliveries that were under way when the process was killed. */
  readonly held: number
  /** From the start of the successor until all of them were made again. */
  readonly heldSeconds: number
  readonly broken: string
}

const answersWithinMs = 1000
/** The lease, and what a poll may take. */
const heldForMs = 31_000
const patienceMs = 60_000
const events = 50

/** Kills the only process with deliveries under way, and starts another one at once. */
export async function succeeded(engines: string, env: Readonly<Record<string, string>>): Promise<SuccessorReport> {
  const receiver = await startReceiver(1500)
  const first = await startServer(env)
  const post = (path: string, body: object) =>
    fetch(`${first.admin}${path}`, { method: 'POST', body: JSON.stringify(body) })
  for (let n = 0; n < 10; n++) await post('/endpoints', { request: { url: receiver.url }, events: [`held${n}`] })
  const ids: string[] = []
  for (let n = 0; n < events; n++) {
    const answer = await post('/events', { event_type: `held${n % 10}`, data: {} })
    ids.push(((await answer.json()) as { id: string }).id) // as documented
  }
  await until('some are under way', patienceMs, () => receiver.attempts.size > 10)
  const answered = new Set(receiver.events)
  await sleep(100)
  await first.kill()
  const held = ids.filter((id) => !answered.has(id)).length

  const begun = Date.now()
  const second = await startServer(env)
  const response = await fetch(`${second.admin}/events?limit=1`)
  const answersAfterMs = Date.now() - begun
  if (!response.ok) throw new Error(`${engines}: ${response.status}`)
  await until('all is settled', patienceMs, async () => {
    const open = await fetch(`${second.admin}/attempts?status=SUCCESSFUL&page_size=1&page_no=1`)
    return ((await open.json()) as { total?: number }).total === ids.length
  })
  const heldMs = Date.now() - begun
  await second.stop()
  receiver.close()
  return {
    engines,
    answersAfterMs,
    held,
    heldSeconds: seconds(heldMs),
    broken: [answersAfterMs > answersWithinMs && 'answers', heldMs > heldForMs && 'held'].filter(Boolean).join(', '),
  }
}
