import type { Millis } from './shared.ts'

export const attemptStatuses = ['INIT', 'QUEUED', 'SUCCESSFUL', 'FAILED', 'CANCELED'] as const
/** INIT and QUEUED are open: QUEUED falls due within three minutes, INIT later. */
export type AttemptStatus = (typeof attemptStatuses)[number]
export type FinalStatus = 'SUCCESSFUL' | 'FAILED' | 'CANCELED'

export const triggerModes = ['INITIAL', 'AUTOMATIC', 'MANUAL', 'TEST'] as const
/** INITIAL: made with its event. AUTOMATIC: follows a failed one. MANUAL: asked for. TEST: a test delivery. */
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
export type AttemptErrorCode = (typeof attemptErrorCodes)[number]

/** The request that was sent. Header names are lower-case, redacted values `***`; lists leave headers and body null. */
export interface AttemptRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>> | null
  readonly body: string | null
}

/** The answer that came, cut at `deliver.captureBytes`. `latency` is in milliseconds. */
export interface AttemptResponse {
  readonly status: number
  readonly latency: number
  readonly headers: Readonly<Record<string, string>> | null
  readonly body: string | null
}

/** One try to deliver one event to one endpoint. */
export interface Attempt {
  readonly id: string
  readonly event_id: string
  readonly endpoint_id: string
  readonly status: AttemptStatus
  /** 1 for the first try of a chain. */
  readonly attempt_number: number
  readonly scheduled_at: Millis
  /** When it was sent: set on every FAILED and SUCCESSFUL one, null on others. */
  readonly attempted_at: Millis | null
  readonly trigger_mode: TriggerMode
  /** Whether it failed and nothing follows. */
  readonly exhausted: boolean
  readonly error_code: AttemptErrorCode | null
  readonly error_message: string | null
  readonly request: AttemptRequest | null
  readonly response: AttemptResponse | null
  readonly created_at: Millis
  readonly updated_at: Millis
  /** The type of the event. */
  readonly event_type: string
  /** Whether the attempt has ended and no automatic try follows. False while it is open, and where a follow-up was made. */
  readonly final: boolean
}
