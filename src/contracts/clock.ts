import type { Awaitable } from './awaitable.ts'

/** Time as this instance knows it. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number
  /**
   * Milliseconds since some moment in the past: the time between two moments, whatever is done to the wall clock
   * meanwhile. Default: the runtime's monotonic clock for a `system` clock, else `now`.
   */
  elapsed?(): number
  /** Resolves after `ms`, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `ring` after `ms`, unless what it answers is called before. Default: made of `sleep`, which costs more. */
  startTimer?(ms: number, ring: () => void): () => void
  /**
   * Calls `run` when the event loop has handled what is ready now, so that answers of several sockets go together.
   * Default: after a turn of the microtask queue.
   */
  afterTurn?(run: () => void): void
  /** Resolves when the time is known to be the engine's; to be awaited before times are written. */
  ready?(): Awaitable<void>
  /** Whether the clock is the system's, to be corrected by the engine's time. A fake clock is not. */
  readonly system: boolean
}

/** Time of the engine as this process knows it, so that due times, leases and limits of all processes agree. */
export interface EngineClock extends Clock {
  elapsed(): number
  /**
   * Asks the engine for its time when that time is not known yet, when the last answer is older than a minute, or when
   * the wall clock was set since then; else there is nothing to wait for. A failure to refresh a known time only warns.
   * @throws what the engine threw when the time was never known.
   */
  ready(): Awaitable<void>
}
