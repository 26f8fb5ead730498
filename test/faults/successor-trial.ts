import { type Receiver, startReceiver } from './receiver.ts'
import { seconds, until } from './report.ts'
import { startServer } from './servers.ts'

export interface SuccessorReport {
  readonly engines: string
  /** From the start of the successor's process until it answered a request for what is stored. */
  readonly answersAfterMs: number
  /** Deliveries that were under way when the process was killed. */
  readonly held: number
  /** From the start of the successor until it has begun all of them again. */
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
  // One event for each endpoint: of one endpoint a process tries a single request first.
  for (let n = 0; n < events; n++) await post('/endpoints', { request: { url: receiver.url }, events: [`held${n}`] })
  const ids: string[] = []
  for (let n = 0; n < events; n++) {
    const answer = await post('/events', { event_type: `held${n}`, data: {} })
    ids.push(((await answer.json()) as { id: string }).id) // as documented
  }
  await until('some are under way', patienceMs, () => receiver.attempts.size > 10)
  await first.kill()
  const begunBefore = [...receiver.attempts.keys()]

  const begun = Date.now()
  let answered = Promise.resolve(Infinity)
  const second = await startServer(env, (admin) => void (answered = firstAnswer(admin)))
  const answersAfterMs = (await answered) - begun
  const { heldMs, held } = await begunAgain(second.admin, receiver, begunBefore, begun)
  await until('all is settled', patienceMs, async () => (await successful(second.admin)).length === ids.length)
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

/** When a process answered a request for what is stored for the first time; Infinity when it never did. */
async function firstAnswer(admin: string): Promise<number> {
  const answers = () =>
    fetch(`${admin}/events?limit=1`).then(
      ({ ok }) => ok,
      () => false,
    )
  return await until('it answers', patienceMs, answers).then(
    () => Date.now(),
    () => Infinity,
  )
}

/** When the last of those attempts was begun again that were not settled by the process before. */
async function begunAgain(admin: string, receiver: Receiver, before: readonly string[], since: number) {
  const settled = new Set(await successful(admin))
  const held = before.filter((id) => !settled.has(id))
  await until('all is begun again', patienceMs, () => held.every((id) => receiver.attempts.get(id)! > 1)) // it was seen once
  return { heldMs: Date.now() - since, held: held.length }
}

async function successful(admin: string): Promise<readonly string[]> {
  const answer = await fetch(`${admin}/attempts?status=SUCCESSFUL&limit=100`)
  const { data } = (await answer.json()) as { data: readonly { id: string }[] } // as documented
  return data.map(({ id }) => id)
}
