import type { Millis } from './shared.ts'

export const attemptStatuses = ['INIT', 'QUEUED', 'SUCCESSFUL', 'FAILED', 'CANCELED'] as const
/** INIT and QUEUED are open: QUEUED falls due within three minutes, INIT later. */
export type AttemptStatus = (typeof attemptStatuses)[number]
/** How an attempt ended. */
export type FinalStatus = 'SUCCESSFUL' | 'FAILED' | 'CANCELED'

export const triggerModes = ['INITIAL', 'AUTOMATIC', 'MANUAL', 'TEST'] as const
/** INITIAL: made with its event. AUTOMATIC: follows a failed attempt. MANUAL: asked for. TEST: a test delivery. */
export type TriggerMode = (typeof triggerModes)[number]

export const attemptErrorCodes = [
  'TIMEOUT',
  'UNKNOWN',
  'DENIED',
  'ENDPOINT_DISABLED',
  'ENDPOINT_NOT_FOUND',
  'EVENT_NOT_FOUND',
  'PLUGIN_ERROR',
] as const
/** Why an attempt did not succeed, where no status of the receiver says it. */
export type AttemptErrorCode = (typeof attemptErrorCodes)[number]

/** The request that was sent. Header names are lower-case, redacted values `***`; lists leave headers and body null. */
export interface AttemptRequest {
  /** Method. */
  readonly method: string
  /** URL, after plugins changed it. */
  readonly url: string
  /** Headers, cut at `deliver.captureBytes`; null in lists. */
  readonly headers: Readonly<Record<string, string>> | null
  /** Body, cut at `deliver.captureBytes`; null in lists and where none was sent. */
  readonly body: string | null
}

/** The answer that came. */
export interface AttemptResponse {
  /** HTTP status. */
  readonly status: number
  /** Milliseconds from the start of the request to the end of the answer. */
  readonly latency: number
  /** Headers, cut at `deliver.captureBytes`; null in lists. */
  readonly headers: Readonly<Record<string, string>> | null
  /** Body, cut at `deliver.captureBytes`; null in lists. */
  readonly body: string | null
}

/** One try to deliver one event to one endpoint. */
export interface Attempt {
  /** 1 to 64 of `A-Z a-z 0-9 _ : -`. */
  readonly id: string
  /** Id of the event. */
  readonly event_id: string
  /** Id of the endpoint. */
  readonly endpoint_id: string
  /** Where the attempt stands. */
  readonly status: AttemptStatus
  /** 1 for the first try of a chain. */
  readonly attempt_number: number
  /** When the attempt is due, unix milliseconds. */
  readonly scheduled_at: Millis
  /** When it was sent, unix milliseconds. Every FAILED and SUCCESSFUL attempt has it; null on others. */
  readonly attempted_at: Millis | null
  /** Why the attempt was made. */
  readonly trigger_mode: TriggerMode
  /** Whether it failed and nothing follows. */
  readonly exhausted: boolean
  /** Why it did not succeed; null where the status of the answer says it, and on open and successful attempts. */
  readonly error_code: AttemptErrorCode | null
  /** The same in words. */
  readonly error_message: string | null
  /** The request that was sent; null when none was. */
  readonly request: AttemptRequest | null
  /** The answer that came; null when none did. */
  readonly response: AttemptResponse | null
  /** When the row was made, unix milliseconds. */
  readonly created_at: Millis
  /** When the row last changed, unix milliseconds. */
  readonly updated_at: Millis
  /** The type of the event. */
  readonly event_type: string
  /** Whether the attempt has ended and no automatic try follows. False while it is open, and where a follow-up was made. */
  readonly final: boolean
}
