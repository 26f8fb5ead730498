import type { Awaitable } from './contracts/awaitable.ts'
import type { Clock, EngineClock } from './contracts/clock.ts'
import type { Logger } from './contracts/observer.ts'

const refreshEveryMs = 60_000
const toleratedMs = 500

/** The system's clock. The only place that reads it. */
export function systemClock(): Clock & { elapsed(): number } {
  return { system: true, now: () => Date.now(), elapsed: () => performance.now(), sleep, startTimer, ...turns }
}

// Taken when this is loaded, so that tests which replace timers later hold up no writes. Edge runtimes lack it.
const { setImmediate } = globalThis as { setImmediate?: (run: () => void) => unknown }
const turns = setImmediate === undefined ? {} : { afterTurn: (run: () => void) => void setImmediate(run) }

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

/** The engine's time. A fake clock needs no engine and stays as it is. */
export function engineClock(clock: Clock, engineTime: () => Promise<number>, log: Logger): EngineClock {
  const elapsed = elapsedOf(clock)
  const sleeps = {
    sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms, signal),
    ...(clock.startTimer !== undefined && {
      startTimer: (ms: number, ring: () => void) => clock.startTimer!(ms, ring),
    }),
    ...(clock.afterTurn !== undefined && { afterTurn: (run: () => void) => clock.afterTurn!(run) }),
  }
  if (!clock.system) {
    return { ...sleeps, system: false, now: () => clock.now(), elapsed, ready: () => undefined }
  }
  const time = new EngineTime({ wall: () => clock.now(), elapsed, engine: engineTime }, log)
  return { ...sleeps, system: true, now: () => time.now(), elapsed, ready: () => time.ready() }
}

interface Clocks {
  readonly wall: () => number
  readonly elapsed: () => number
  readonly engine: () => Promise<number>
}

/**
 * What the engine answered last, and what has passed since then on the monotonic clock. So a wall clock that is set, by a
 * second or a day, changes no due time, lease or limit. A monotonic clock may stand still while the machine is suspended:
 * the wall clock then runs away from the monotonic clock, which is noticed in the same way, and the engine is asked again.
 */
class EngineTime {
  readonly #clocks: Clocks
  readonly #log: Logger
  #known: Moment | null = null
  #warnedOfMs = 0
  #asking: Promise<void> | null = null

  constructor(clocks: Clocks, log: Logger) {
    this.#clocks = clocks
    this.#log = log
  }

  now(): number {
    const { wall, elapsed } = this.#clocks
    return this.#known === null ? wall() : Math.floor(this.#known.engine + elapsed() - this.#known.elapsed)
  }

  ready(): Awaitable<void> {
    return this.#isCurrent() ? undefined : (this.#asking ??= this.#ask().finally(() => (this.#asking = null)))
  }

  #isCurrent(): boolean {
    const known = this.#known
    return known !== null && this.#clocks.elapsed() - known.elapsed < refreshEveryMs && this.#steppedMs(known) === 0
  }

  /** How far the wall clock was set since a moment. */
  #steppedMs(since: Moment): number {
    const { wall, elapsed } = this.#clocks
    const ms = wall() - since.wall - (elapsed() - since.elapsed)
    return Math.abs(ms) > toleratedMs ? Math.round(ms) : 0
  }

  async #ask(): Promise<void> {
    const { wall, elapsed, engine } = this.#clocks
    const before = elapsed()
    try {
      const told = await engine()
      const after = elapsed()
      // The engine looked at its clock some time between question and answer: half-way is off by half of that at most.
      const fresh = { engine: Math.round(told + (after - before) / 2), wall: wall(), elapsed: after }
      this.#warn(fresh)
      this.#known = fresh
    } catch (cause) {
      // After a step of the wall clock this process may have been suspended: what passed meanwhile only the engine knows.
      if (this.#known === null || this.#steppedMs(this.#known) !== 0) throw cause
      this.#known = { engine: this.now(), wall: wall(), elapsed: elapsed() } // the engine is asked again in a minute
      this.#log.warn('the storage did not tell its time', { cause })
    }
  }

  /** Warns once for a clock that was set, and once for each new difference from the engine. */
  #warn({ wall, engine }: Moment): void {
    const differenceMs = Math.round(wall - engine)
    const stepped = this.#known === null ? 0 : this.#steppedMs(this.#known)
    const isNew = Math.abs(differenceMs) > toleratedMs && Math.abs(differenceMs - this.#warnedOfMs) > toleratedMs
    if (stepped !== 0) {
      const details = { steppedMs: stepped, differenceMs }
      this.#log.warn('the clock of this process was set; due times follow the storage', details)
    } else if (isNew) {
      this.#log.warn('the clock of this process differs from that of the storage; due times follow the storage', {
        differenceMs,
      })
    }
    if (stepped !== 0 || isNew) this.#warnedOfMs = differenceMs
  }
}

// Timers hold 31 bits of milliseconds; a longer timer would fire at once.
const maxTimerMs = 2_147_483_647

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, Math.min(Math.max(0, ms), maxTimerMs))
    signal?.addEventListener('abort', done, { once: true })
  })
}

function startTimer(ms: number, ring: () => void): () => void {
  const timer = setTimeout(ring, Math.min(Math.max(0, ms), maxTimerMs))
  return () => clearTimeout(timer)
}
