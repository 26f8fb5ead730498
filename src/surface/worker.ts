/** What a tick did. */
export interface TickReport {
  /** Attempts that ended well. */
  readonly delivered: number
  /** Attempts that failed. */
  readonly failed: number
  /** Jobs still in the queue, those due later included. */
  readonly remaining: number
}

/** Starts and stops the work of this process: deliveries, async sources, retention. */
export interface Worker {
  /**
   * Claims and delivers, stores what async sources accepted, and does the minute's work, until `stop`. Calls during a
   * start get the same promise: all of them resolve, or all reject. A call during a stop starts again after the stop, or rejects
   * with `unavailable` when `stop` is called again before that.
   */
  start(): Promise<void>
  /**
   * Claims nothing more. Requests in flight may finish within `timeoutMs` (milliseconds, default 10,000). Then requests are
   * aborted, and their jobs wait in the queue until the leases end. Resolves within `timeoutMs` and a second, whatever the
   * engine does: calls that wait for the engine then get `unavailable`. During a start it waits for the start, then stops.
   * May be called at any time, any number of times; a call with a shorter time shortens a stop that is under way.
   */
  stop(options?: { timeoutMs?: number }): Promise<void>
  /**
   * Does once, without timers, all that `start` does again and again. Claims for at most `budgetMs` (milliseconds, default
   * 10,000), then waits for the requests in flight.
   */
  tick(options?: { budgetMs?: number }): Promise<TickReport>
  /** Ticks until nothing is due. `until` (unix ms): until nothing is due at that time; a fake clock is advanced to it. */
  drain(options?: { until?: number }): Promise<void>
}
