/** A process that works, as it was seen last. */
export interface Process {
  /** Made anew at each start of a process. */
  readonly id: string
  /** Version of Posthorn. */
  readonly version: string
  /** Such as `node v22.1.0`. */
  readonly runtime: string
  /** When the process started, unix milliseconds. */
  readonly started_at: number
  /** When the process was seen last, unix milliseconds. */
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
