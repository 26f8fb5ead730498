import type { StoredAttempt } from '../../contracts/storage/attempts.ts'
import type { Endpoint } from '../../schema/endpoint.ts'

/** One request that a receiver of the simulation saw. */
export interface SeenSend {
  readonly process: string
  readonly attemptId: string
  readonly endpointId: string
  readonly startedAt: number
  /** When the process that made it stopped, or the answer came. */
  endedAt: number
  status: number | null
  /** The moment until which the answer asked to be left alone. */
  pauseUntil: number | null
}

export interface AcceptedEvent {
  readonly id: string
  readonly workspace: string
  /** Null: storage does not hold it at the end. */
  readonly ingested_at: number | null
}

export interface History {
  readonly endpoints: readonly (Endpoint & { readonly workspace: string })[]
  /** Events whose publisher got the answer that they are stored, or accepted to be stored later. */
  readonly accepted: readonly AcceptedEvent[]
  /** All attempts of accepted events, as storage holds them at the end. */
  readonly attempts: readonly StoredAttempt[]
  readonly sends: readonly SeenSend[]
  /** What happened, in order, for a person who looks for the cause. */
  readonly log: readonly string[]
}

/** Time that a pause, once stored, may take to reach a claim that was under way. */
const slackMs = 5_000

/** Every way in which a history breaks a promise; nothing for a good history. */
export function violations(history: History): string[] {
  return [
    ...unstored(history),
    ...lost(history),
    ...chains(history),
    ...outcomes(history),
    ...overlaps(history),
    ...limits(history),
    ...pauses(history),
    ...early(history),
  ]
}

/** Every accepted event is stored in the end. */
function unstored({ accepted }: History): string[] {
  return accepted.filter(({ ingested_at }) => ingested_at === null).map(({ id }) => `lost: event ${id} was not stored`)
}

/** Every accepted event has a chain for each endpoint of its workspace: all want all events, until a 410 disables them. */
function lost({ accepted, endpoints, attempts, sends }: History): string[] {
  const known = new Set(attempts.map(({ event_id, endpoint_id }) => `${event_id} to ${endpoint_id}`))
  const goneAt = (id: string) =>
    Math.min(
      Infinity,
      ...sends.filter((send) => send.endpointId === id && send.status === 410).map((send) => send.endedAt),
    )
  return endpoints.flatMap((endpoint) =>
    accepted
      .filter(
        ({ workspace, ingested_at }) =>
          workspace === endpoint.workspace && ingested_at !== null && ingested_at < goneAt(endpoint.id),
      )
      .filter(({ id }) => !known.has(`${id} to ${endpoint.id}`))
      .map((event) => `lost: event ${event.id} to ${endpoint.id} has no attempt`),
  )
}

/** A chain counts 1, 2, 3..., each failed and followed but the last, which is final: no follow-up lost, none doubled. */
function chains({ attempts }: History): string[] {
  const byDelivery = new Map<string, StoredAttempt[]>()
  for (const attempt of attempts) {
    const name = `${attempt.event_id} to ${attempt.endpoint_id}`
    byDelivery.set(name, [...(byDelivery.get(name) ?? []), attempt])
  }
  const broken: string[] = []
  for (const [name, chain] of byDelivery) {
    chain.sort((a, b) => a.attempt_number - b.attempt_number)
    chain.forEach((attempt, i) => {
      const last = i === chain.length - 1
      if (attempt.attempt_number !== i + 1) broken.push(`chain: ${name} has no single attempt ${i + 1}`)
      else if (attempt.status === 'OPEN') broken.push(`chain: ${name} never ended: attempt ${i + 1} is open`)
      else if (!last && (attempt.status !== 'FAILED' || attempt.exhausted)) {
        broken.push(`chain: ${name} goes on after attempt ${i + 1}, which is ${attempt.status}`)
      } else if (last && attempt.status === 'FAILED' && !attempt.exhausted) {
        broken.push(`chain: ${name} stops at attempt ${i + 1}, which was to be followed`)
      }
    })
  }
  return broken
}

/** What is recorded as answered was answered so, and what is closed is never sent again. */
function outcomes({ attempts, sends }: History): string[] {
  return attempts.flatMap((attempt) => {
    const own = sends.filter(({ attemptId }) => attemptId === attempt.id)
    const status = attempt.response?.status ?? null
    const broken: string[] = []
    if (attempt.status === 'SUCCESSFUL' && !own.some((send) => send.status !== null && send.status < 300)) {
      broken.push(`outcome: attempt ${attempt.id} is SUCCESSFUL, but no receiver said so`)
    }
    if (status !== null && !own.some((send) => send.status === status)) {
      broken.push(`outcome: attempt ${attempt.id} records ${status}, which no receiver answered`)
    }
    for (const { startedAt, process } of own) {
      if (attempt.status !== 'OPEN' && startedAt > attempt.updated_at) {
        broken.push(`again: ${process} sent attempt ${attempt.id} after it was closed`)
      }
    }
    return broken
  })
}

/** Two living processes never send the same attempt at once. */
function overlaps({ sends }: History): string[] {
  const broken: string[] = []
  const byAttempt = new Map<string, SeenSend[]>()
  for (const send of sends) byAttempt.set(send.attemptId, [...(byAttempt.get(send.attemptId) ?? []), send])
  for (const [id, own] of byAttempt) {
    own.sort((a, b) => a.startedAt - b.startedAt)
    for (let i = 1; i < own.length; i++) {
      if (own[i]!.startedAt < own[i - 1]!.endedAt) {
        broken.push(`twice: attempt ${id} was sent by ${own[i]!.process} while ${own[i - 1]!.process} held it`)
      }
    }
  }
  return broken
}

/** Of a limited endpoint, any n sends in a row take at least (n - quota) * period / quota. */
function limits({ endpoints, sends }: History): string[] {
  return endpoints.flatMap(({ id, rate_limit }) => {
    if (rate_limit === null || rate_limit.quota === 0) return []
    const stepMs = (rate_limit.period * 1000) / rate_limit.quota
    const times = sends.filter(({ endpointId }) => endpointId === id).map(({ startedAt }) => startedAt)
    for (let i = 0; i < times.length; i++) {
      for (let j = i + rate_limit.quota; j < times.length; j++) {
        // A millisecond each, for times are whole milliseconds.
        if (times[j]! - times[i]! + (j - i) < (j - i + 1 - rate_limit.quota) * stepMs) {
          return [`limit: ${j - i + 1} sends to ${id} within ${times[j]! - times[i]!} ms`]
        }
      }
    }
    return []
  })
}

/** After a receiver asked to be left alone, and that was stored, nothing starts until then. */
function pauses({ attempts, sends }: History): string[] {
  return sends.flatMap((asked) => {
    const { pauseUntil } = asked
    const settled = attempts.find(({ id, response }) => id === asked.attemptId && response?.status === asked.status)
    if (pauseUntil === null || settled === undefined) return []
    return sends
      .filter(
        ({ endpointId, startedAt }) =>
          endpointId === asked.endpointId && startedAt > settled.updated_at + slackMs && startedAt < pauseUntil,
      )
      .map(({ startedAt }) => `pause: ${asked.endpointId} got a request ${pauseUntil - startedAt} ms too early`)
  })
}

/** Nothing is sent before it is due by the engine's clock, whatever the clocks of processes say. */
function early({ attempts, sends }: History): string[] {
  const dueAt = new Map(attempts.map(({ id, scheduled_at }) => [id, scheduled_at]))
  return sends.flatMap(({ attemptId, startedAt, process }) => {
    const due = dueAt.get(attemptId) ?? -Infinity
    return startedAt < due
      ? [`early: ${process} sent attempt ${attemptId} ${due - startedAt} ms before it was due`]
      : []
  })
}
