import type { Millis } from './shared.ts'

/** A process that works for this instance, as it was seen last: within five minutes. */
export interface ProcessReport {
  /** Made anew at each start of a process. */
  readonly id: string
  /** Version of Posthorn. */
  readonly version: string
  /** Such as `node v22.1.0`. */
  readonly runtime: string
  /** When the process started, unix milliseconds. */
  readonly started_at: Millis
  /** When the process was seen last, unix milliseconds. */
  readonly seen_at: Millis
  /** Requests to endpoints in flight. */
  readonly in_flight: number
  /** Requests sent to endpoints since the start. */
  readonly sent: number
}

/** A request that the gateway took for a source. Headers and bodies are not recorded. */
export interface SourceRequest {
  /** When the request came, unix milliseconds. */
  readonly at: Millis
  /** Method of the request. */
  readonly method: string
  /** Status of the answer. */
  readonly status: number
  /** Time until the answer, milliseconds. */
  readonly latency: number
  /** The event that was made; null where none was, or where the inbox has the request. */
  readonly event_id: string | null
  /** Why the request was refused, as the answer says it, in one line; null where it was not refused. */
  readonly reason: string | null
  /** The body as text, as far as `gateway.captureBytes` goes; null where that is 0, or no body was read. */
  readonly body: string | null
}

/**
 * The last requests of a source, newest first, at most 50. Only requests that the answering process took since its
 * start.
 */
export interface SourceRequests {
  /** The requests, the newest first. */
  readonly data: readonly SourceRequest[]
}
