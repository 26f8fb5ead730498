import type { Clock } from '../contracts/clock.ts'

/** A span of time: milliseconds, or `500ms`, `30s`, `5m`, `1h`, `2d`. */
export type Span = number | string

/** A clock that stands still until `advance` is called. */
export interface FakeClock extends Clock {
  readonly system: false
  elapsed(): number
  /**
   * Goes on by `ms`. Each sleeper whose time comes meanwhile wakes at that time, in order. What the sleeper does next
   * runs before the clock goes on, as far as it does not wait for real time.
   */
  advance(by: Span): Promise<void>
  /** Goes on by `ms` at once if nobody sleeps until then; else answers false and stands still. */
  skip(ms: number): boolean
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** How many times the event loop goes round before the clock goes on: promises of timers and sockets take some. */
const turns = 3

/**
 * @param start unix milliseconds, 2026-01-01T00:00:00Z by default.
 * @example
 * const clock = fakeClock()
 * await clock.advance(60_000) // whoever sleeps until then wakes
 */
export function fakeClock(start = 1_767_225_600_000): FakeClock {
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>()
  let time = start

  /** The sleeper whose time comes first; of several, the sleeper that fell asleep first. */
  const next = () => {
    let earliest: { readonly at: number; readonly wake: () => void } | null = null
    for (const sleeper of sleepers) if (earliest === null || sleeper.at < earliest.at) earliest = sleeper
    return earliest
  }

  return {
    system: false,
    now: () => time,
    elapsed: () => time - start,

    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted || ms <= 0) return resolve()
        const wake = () => {
          sleepers.delete(sleeper)
          signal?.removeEventListener('abort', wake)
          resolve()
        }
        const sleeper = { at: time + ms, wake }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', wake, { once: true })
      }),

    skip(ms) {
      const sleeper = next()
      if (sleeper !== null && sleeper.at <= time + ms) return false
      time += ms
      return true
    },

    async advance(by) {
      const until = time + duration(by)
      const { settled, close } = settler()
      await settled()
      for (;;) {
        let sleeper = next()
        if (sleeper === null || sleeper.at > until) {
          // Before it goes on for good: a whole round of the event loop, for those who wait for more than a promise.
          await round()
          sleeper = next()
        }
        if (sleeper === null || sleeper.at > until) break
        time = Math.max(time, sleeper.at)
        sleeper.wake()
        await settled()
      }
      close()
      time = Math.max(time, until)
    },
  }
}

/**
 * @throws RangeError for what is no span of time.
 * @example duration('1h') // 3600000
 */
export function duration(span: Span): number {
  if (typeof span === 'number') {
    if (span >= 0) return span
    throw new RangeError(`a clock does not go back: ${span}`)
  }
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(span) ?? []
  const ms = unitMs[unit]
  if (count === undefined || ms === undefined) throw new RangeError(`not a span of time: ${span}`)
  return Number(count) * ms
}

/** A timer of no time takes at least a millisecond, in which the event loop goes round as often as it needs to. */
function round(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, 0))
}

/** Lets everything run that waits for no timer: turns of the event loop, by way of messages to oneself. */
function settler(): { settled(): Promise<void>; close(): void } {
  const { port1, port2 } = new MessageChannel()
  let arrived = () => {}
  port1.addEventListener('message', () => arrived())
  port1.start()
  return {
    async settled() {
      for (let turn = 0; turn < turns; turn++) {
        await new Promise<void>((resolve) => {
          arrived = resolve
          port2.postMessage(null)
        })
      }
    },
    // An open port would keep the process alive.
    close: () => port1.close(),
  }
}
