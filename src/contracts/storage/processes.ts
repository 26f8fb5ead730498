/** A process that works, as it was seen last. */
export interface Process {
  /** Made anew at each start of a process. */
  readonly id: string
  readonly version: string
  /** Such as `node v22.1.0`. */
  readonly runtime: string
  readonly started_at: number
  readonly seen_at: number
  /** Requests in flight. */
  readonly in_flight: number
  /** Attempts sent since the start. */
  readonly sent: number
}

/** The processes that were seen lately. */
export interface Processes {
  /** Writes how the process is now, and forgets those not seen since `before`. */
  seen(process: Process, before: number): Promise<void>
  /** Those seen since then, by id. */
  list(since: number): Promise<readonly Process[]>
}
