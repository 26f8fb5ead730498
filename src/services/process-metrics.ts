import type { Observers } from './observers.ts'

/** Seconds: the bounds of OpenTelemetry's http.client.request.duration, and more bounds for slow endpoints. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60] as const

export interface Histogram {
  readonly bounds: readonly number[]
  /** How many values lie in each bucket; the last number is for values beyond the last bound. */
  readonly counts: readonly number[]
  readonly sum: number
}

/**
 * What this process has seen since it started, beyond the counters of the status report. All names are of closed sets.
 */
export interface ProcessMetrics {
  readonly events: number
  readonly exhausted: number
  /** By status, then by error code ('' for none). */
  readonly attempts: ReadonlyMap<string, ReadonlyMap<string, number>>
  readonly disabled: ReadonlyMap<string, number>
  readonly overloaded: ReadonlyMap<string, number>
  /** Seconds from sending a request to the end of the attempt. */
  readonly durations: Histogram
}

/** Counts what observers report. */
export function processMetrics(on: Observers['on']): ProcessMetrics {
  const attempts = new Map<string, Map<string, number>>()
  const disabled = new Map([count('gone'), count('breaker'), count('failing')])
  const overloaded = new Map([count('gateway'), count('storage')])
  const durations = { bounds, counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 }
  const seen = { events: 0, exhausted: 0, attempts, disabled, overloaded, durations }

  on('event', () => void seen.events++)
  on('exhausted', () => void seen.exhausted++)
  on('endpoint.disabled', ({ reason }) => increment(disabled, reason))
  on('overloaded', ({ what }) => increment(overloaded, what))
  on('attempt', ({ attempt: { status, error_code, attempted_at, updated_at, response } }) => {
    let codes = attempts.get(status)
    if (codes === undefined) attempts.set(status, (codes = new Map<string, number>()))
    increment(codes, error_code ?? '')
    if (attempted_at === null) return
    const seconds = (response?.latency ?? updated_at - attempted_at) / 1000
    const bucket = bounds.findIndex((bound) => seconds <= bound)
    durations.counts[bucket === -1 ? bounds.length : bucket]!++ // one count for each bound, and one for longer times
    durations.sum += seconds
  })
  return seen
}

function count(name: string): [string, number] {
  return [name, 0]
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
