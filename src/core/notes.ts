import type { Counted, Settlement } from '../contracts/storage/attempts.ts'
import type { Cause } from '../contracts/storage/causes.ts'
import type { Counts, Streak } from '../contracts/storage/statistics.ts'
import { addCode, codeOf, isCanceled, isExhausted, isSuccess, noCounts } from './counts.ts'
import { hourMs, minuteMs, startOf } from './periods.ts'

/**
 * What a settlement leaves to be counted. An engine writes notes with the settlements themselves, where none waits for
 * another, and folds them into sums later. `place` is the workspace as the engine knows it, so that a workspace made anew
 * under an old id counts from nothing. `attempt` is given for failed attempts.
 */
export type Note = readonly [
  place: number | string,
  endpointId: string,
  eventType: string,
  settledAt: number,
  code: number,
  attempt?: string,
  told?: 0 | 1,
  disabled?: 1,
]

/** A note as JSON without brackets, so that an engine can put the place before it, and `,1` behind it for `disabled`. */
export function noteText(settlement: Settlement, { event_type, told }: Counted): string {
  const { attempt, settled_at, status } = settlement
  const text = `${JSON.stringify(attempt.endpoint_id)},${JSON.stringify(event_type)},${settled_at},${codeOf(settlement)}`
  return status === 'FAILED' ? `${text},${JSON.stringify(attempt.id)},${told ? 1 : 0}` : text
}

/** The same for an engine that keeps no text. */
export function noteOf(place: string, settlement: Settlement, { event_type, told }: Counted, disabled: boolean): Note {
  const { attempt, settled_at, status } = settlement
  const code = codeOf(settlement)
  if (status !== 'FAILED') return [place, attempt.endpoint_id, event_type, settled_at, code]
  const note = [place, attempt.endpoint_id, event_type, settled_at, code, attempt.id, told ? 1 : 0] as const
  return disabled ? [...note, 1] : note
}

/** Notes of many settlements as they were joined: note, note. */
export function notesIn(text: string): readonly Note[] {
  return JSON.parse(`[${text}]`) as readonly Note[] // as `noteText` writes them
}

/** Counts of one endpoint in one minute or, with a type, in one hour. */
export interface Sum {
  readonly place: string
  readonly time: number
  readonly endpoint_id: string
  readonly event_type: string
  readonly counts: Counts
}

export interface PlacedStreak extends Streak {
  readonly place: string
  readonly endpoint_id: string
}

/** What notes come to. A cause names the place instead of the workspace's id. */
export interface Folded {
  readonly minutes: readonly Sum[]
  readonly hours: readonly Sum[]
  readonly streaks: readonly PlacedStreak[]
  readonly causes: readonly Cause[]
}

/** Sums that grow. Notes that follow each other are often of the same sum. */
class Sums {
  readonly #byKey = new Map<string, Sum>()
  #last: Sum | undefined

  add(place: string, time: number, endpoint_id: string, event_type: string, code: number): void {
    const last = this.#last
    const isSame =
      last?.time === time && last.place === place && last.endpoint_id === endpoint_id && last.event_type === event_type
    const sum = isSame ? last : this.#sumOf(place, time, endpoint_id, event_type)
    this.#last = sum
    addCode(sum.counts, code)
  }

  #sumOf(place: string, time: number, endpoint_id: string, event_type: string): Sum {
    const key = `${time} ${place} ${endpoint_id} ${event_type}`
    const known = this.#byKey.get(key)
    if (known !== undefined) return known
    const sum = { place, time, endpoint_id, event_type, counts: noCounts() }
    this.#byKey.set(key, sum)
    return sum
  }

  get size(): number {
    return this.#byKey.size
  }

  all(): readonly Sum[] {
    return [...this.#byKey.values()]
  }
}

/** Streaks that grow. Notes that follow each other are often of the same endpoint. */
class Streaks {
  readonly #byKey = new Map<string, { readonly place: string; readonly endpoint_id: string; streak: Streak }>()
  #last: { readonly place: string; readonly endpoint_id: string; streak: Streak } | undefined

  add(place: string, endpoint_id: string, next: Streak): void {
    const last = this.#last
    const isSame = last?.endpoint_id === endpoint_id && last.place === place
    const known = isSame ? last : this.#byKey.get(`${place} ${endpoint_id}`)
    if (known === undefined) {
      this.#last = { place, endpoint_id, streak: next }
      this.#byKey.set(`${place} ${endpoint_id}`, this.#last)
    } else {
      this.#last = known
      known.streak = joinedStreak(known.streak, next)
    }
  }

  get size(): number {
    return this.#byKey.size
  }

  all(): readonly PlacedStreak[] {
    return Array.from(this.#byKey.values(), ({ place, endpoint_id, streak }) => ({ place, endpoint_id, ...streak }))
  }
}

/** Adds up notes, which come in their order. */
export class Folding {
  readonly #typeOf: (place: string, type: string) => string
  readonly #minutes = new Sums()
  readonly #hours = new Sums()
  readonly #streaks = new Streaks()
  readonly #causes: Cause[] = []

  /** `typeOf` answers the type under which an event type of a place is counted. */
  constructor(typeOf: (place: string, type: string) => string) {
    this.#typeOf = typeOf
  }

  add(note: Note): void {
    const [of, endpoint_id, type, settledAt, code] = note
    const place = String(of)
    this.#minutes.add(place, startOf(settledAt, minuteMs), endpoint_id, '', code)
    this.#hours.add(place, startOf(settledAt, hourMs), endpoint_id, this.#typeOf(place, type), code)
    addCauses(this.#causes, note)
    if (!isCanceled(code)) this.#streaks.add(place, endpoint_id, streakOf(note))
  }

  /** How many sums, streaks and causes that are so far. */
  get size(): number {
    return this.#minutes.size + this.#hours.size + this.#streaks.size + this.#causes.length
  }

  folded(): Folded {
    return {
      minutes: this.#minutes.all(),
      hours: this.#hours.all(),
      streaks: this.#streaks.all(),
      causes: this.#causes,
    }
  }
}

/** What these notes come to: see `Folding`. */
export function fold(notes: readonly Note[], typeOf: (place: string, type: string) => string): Folded {
  const folding = new Folding(typeOf)
  for (const note of notes) folding.add(note)
  return folding.folded()
}

function streakOf([, , , settledAt, code, attempt]: Note): Streak {
  if (isSuccess(code)) {
    return { succeeded_at: settledAt, failed_at: null, attempt_id: null, failures: 0, exhausted: 0 }
  }
  const attempt_id = attempt ?? null
  return { succeeded_at: null, failed_at: settledAt, attempt_id, failures: 1, exhausted: isExhausted(code) ? 1 : 0 }
}

/**
 * The streak of an endpoint over two parts of its history, the earlier part first. A success ends the failures before
 * it; a success that is reported after later failures does not end these.
 */
export function joinedStreak(before: Streak, next: Streak): Streak {
  const ends = next.succeeded_at !== null && next.succeeded_at >= (before.failed_at ?? -Infinity)
  const isNewer = next.failed_at !== null && next.failed_at >= (before.failed_at ?? -Infinity)
  return {
    succeeded_at: later(before.succeeded_at, next.succeeded_at),
    failed_at: later(before.failed_at, next.failed_at),
    attempt_id: isNewer ? next.attempt_id : before.attempt_id,
    failures: (ends ? 0 : before.failures) + next.failures,
    exhausted: (ends ? 0 : before.exhausted) + next.exhausted,
  }
}

function later(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b)
}

function addCauses(causes: Cause[], [place, endpoint_id, , at, code, attempt_id, told, disabled]: Note): void {
  if (told !== 1 || attempt_id === undefined) return
  const cause = { workspace_id: String(place), endpoint_id, attempt_id, at, reason: null }
  if (isExhausted(code)) causes.push({ ...cause, kind: 'exhausted', id: attempt_id })
  if (disabled === 1) causes.push({ ...cause, kind: 'disabled', id: attempt_id, reason: 'gone' })
}
