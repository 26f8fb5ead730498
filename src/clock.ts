import type { Clock, EngineClock } from './contracts/clock.ts'
import type { Logger } from './contracts/observer.ts'

const refreshEveryMs = 60_000
const toleratedMs = 500

/** The system's clock. The only place that reads it. */
export function systemClock(): Clock & { elapsed(): number } {
  return { system: true, now: () => Date.now(), elapsed: () => performance.now(), sleep, startTimer: startTimer }
}

/** The time between two moments by a clock, for clocks that do not tell it. */
function elapsedOf(clock: Clock): () => number {
  if (clock.elapsed !== undefined) return () => clock.elapsed!()
  return clock.system ? () => performance.now() : () => clock.now()
}

/** One moment, as the engine, the wall clock and the monotonic clock of this process tell it. */
interface Moment {
  readonly engine: number
  readonly wall: number
  readonly elapsed: number
}

/**
 * The engine's time: what `engineTime` answered last, and what has passed since then on the monotonic clock. So a wall
 * clock that is set, by a second or a day, changes no due time, lease or limit. A monotonic clock may stand still while
 * the machine is suspended: the wall clock then runs away from it, which is noticed in the same way, and the engine is
 * asked again. A fake clock needs none of this and stays as it is.
 */
export function engineClock(clock: Clock, engineTime: () => Promise<number>, log: Logger): EngineClock {
  const elapsed = elapsedOf(clock)
  const sleeps = {
    sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms, signal),
    ...(clock.startTimer !== undefined && {
      startTimer: (ms: number, ring: () => void) => clock.startTimer!(ms, ring),
    }),
  }
  if (!clock.system) {
    return { ...sleeps, system: false, now: () => clock.now(), elapsed, ready: () => Promise.resolve() }
  }
  let known: Moment | null = null
  let warnedOfMs = 0
  let asking: Promise<void> | null = null

  /** How far the wall clock was set since a moment. */
  function steppedMs(since: Moment): number {
    const ms = clock.now() - since.wall - (elapsed() - since.elapsed)
    return Math.abs(ms) > toleratedMs ? Math.round(ms) : 0
  }

  function isCurrent(): boolean {
    return known !== null && elapsed() - known.elapsed < refreshEveryMs && steppedMs(known) === 0
  }

  async function ask(): Promise<void> {
    const before = elapsed()
    try {
      const engine = await engineTime()
      const after = elapsed()
      // The engine looked at its clock some time between question and answer: half-way is off by half of that at most.
      const fresh = { engine: Math.round(engine + (after - before) / 2), wall: clock.now(), elapsed: after }
      warn(fresh)
      known = fresh
    } catch (cause) {
      if (known === null) throw cause
      warn(known)
      known = { engine: now(), wall: clock.now(), elapsed: elapsed() } // asked again in a minute
      log.warn('the storage did not tell its time', { cause })
    }
  }

  /** One warning for a clock that was set, and one for each difference from the engine that is new. */
  function warn({ wall, engine }: Moment): void {
    const differenceMs = Math.round(wall - engine)
    const stepped = known === null ? 0 : steppedMs(known)
    const isNew = Math.abs(differenceMs) > toleratedMs && Math.abs(differenceMs - warnedOfMs) > toleratedMs
    if (stepped !== 0) {
      log.warn('the clock of this process was set; due times follow the storage', { steppedMs: stepped, differenceMs })
    } else if (isNew) {
      log.warn('the clock of this process differs from that of the storage; due times follow the storage', {
        differenceMs,
      })
    }
    if (stepped !== 0 || isNew) warnedOfMs = differenceMs
  }

  function now(): number {
    return known === null ? clock.now() : Math.floor(known.engine + elapsed() - known.elapsed)
  }

  return {
    ...sleeps,
    system: true,
    now,
    elapsed,
    async ready() {
      if (!isCurrent()) await (asking ??= ask().finally(() => (asking = null)))
    },
  }
}

// Timers hold 31 bits of milliseconds; a longer one would fire at once.
const longestMs = 2_147_483_647

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, Math.min(Math.max(0, ms), longestMs))
    signal?.addEventListener('abort', done, { once: true })
  })
}

function startTimer(ms: number, ring: () => void): () => void {
  const timer = setTimeout(ring, Math.min(Math.max(0, ms), longestMs))
  return () => clearTimeout(timer)
}
