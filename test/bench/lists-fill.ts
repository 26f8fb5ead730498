import { sideBySide } from './compare.ts'
import type { NewAttempt, Settlement } from '../../src/contracts/storage/attempts.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { idMaker } from '../../src/core/id.ts'
import { attempt, entry, event, revisionOf, settlement } from '../../src/testing/storage/rows.ts'

// Deliveries of five days: most succeeded at the first try. What else comes of them is spread evenly over the days.

const batch = 500
const spanMs = 5 * 24 * 3_600_000
const types = ['order.paid', 'order.sent', 'invoice.paid', 'customer.updated'] as const

/** Times of the five days, by the part of them that is past. */
export interface Span {
  at(part: number): number
}

export function spanUntil(end: number): Span {
  return { at: (part) => Math.floor(end - spanMs + part * spanMs) }
}

/**
 * What becomes of the first try of a delivery. One in fifty fails and is exhausted, one in forty fails with a follow-up two
 * hours later that succeeds, few are canceled, wait, or wait for their follow-up.
 */
type Fate = 'succeeds' | 'fails' | 'is refused as a teapot' | 'recovers' | 'retries' | 'waits' | 'is canceled'

function fateOf(which: number): Fate {
  if (which % 10_000 === 5_000) return 'is canceled'
  if (which % 4_000 === 7) return 'waits'
  if (which % 4_000 === 2_011) return 'retries'
  if (which % 10_000 === 1_001) return 'is refused as a teapot'
  if (which % 50 === 1) return 'fails'
  return which % 40 === 3 ? 'recovers' : 'succeeds'
}

/** Rows of few or many are of their own type and endpoint; the others are of one type in four, one endpoint in twenty. */
function placeOf(which: number): { event_type: string; endpoint_id: string } {
  if (which % 10_000 === 0) return { event_type: 'rare', endpoint_id: 'rare' }
  if (which % 500 === 250) return { event_type: 'seldom', endpoint_id: 'seldom' }
  const mixed = Math.imul(which, 0x9e3779b1) >>> 8
  return { event_type: types[mixed % 4]!, endpoint_id: `ep${(mixed >>> 4) % 20}` }
}

/** Stores so many deliveries. */
export async function fill(storage: Storage, stored: number, { at }: Span): Promise<void> {
  const revision = await revisionOf(storage, 'default')
  // On PostgreSQL open attempts stand in the rows of their jobs, which go with the attempts.
  const how = { enqueue: storage.name === 'postgres' }
  let now = at(0)
  const newId = idMaker(
    () => now,
    (length) => crypto.getRandomValues(new Uint8Array(length)),
  )
  const plans = Array.from({ length: stored / batch }, (_, n) => n)
  await sideBySide(plans.length, 4, async (n) => {
    const made = Array.from({ length: batch }, (_, i) => {
      const which = n * batch + i
      now = at(which / stored)
      const { event_type, endpoint_id } = placeOf(which)
      const one = event(newId(), { event_type, created_at: now, updated_at: now, ingested_at: now })
      const first = attempt(newId(), one.id, { endpoint_id, created_at: now, scheduled_at: now })
      now += 10
      const times = { attempt_number: 2, created_at: now, scheduled_at: now + 2 * 3_600_000 }
      return { fate: fateOf(which), one, first, next: { ...first, ...times, id: newId() } }
    })
    await storage.events.ingest(
      made.map(({ one, first }) => entry('default', revision, one, [first])),
      how,
    )
    await storage.attempts.settle(made.flatMap(ended), how)
    const recovered = made.filter(({ fate }) => fate === 'recovers')
    await storage.attempts.settle(
      recovered.map(({ next }) => settlement('default', next, timesOf(next))),
      how,
    )
  })
}

function ended({ fate, first, next }: { fate: Fate; first: NewAttempt; next: NewAttempt }): readonly Settlement[] {
  if (fate === 'waits') return []
  if (fate === 'succeeds') return [settlement('default', first, timesOf(first))]
  if (fate === 'is canceled') {
    return [settlement('default', first, { ...timesOf(first), status: 'CANCELED', attempted_at: null, response: null })]
  }
  const response = answered(fate === 'is refused as a teapot' ? 418 : 500)
  const failed = { ...timesOf(first), status: 'FAILED', response } as const
  const goesOn = fate === 'recovers' || fate === 'retries'
  return [settlement('default', first, goesOn ? { ...failed, next } : { ...failed, exhausted: true })]
}

const answered = (status: number) => ({ status, latency: 3, headers: null, body: null })
const timesOf = ({ scheduled_at }: NewAttempt) => ({
  attempted_at: scheduled_at + 5,
  settled_at: scheduled_at + 10,
  response: answered(200),
})
