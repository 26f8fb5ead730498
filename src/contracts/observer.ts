import type { Attempt } from '../schema/attempt.ts'
import type { StoredEvent } from '../schema/event.ts'

/** Console-like. `details` hold no secret and no payload. */
export interface Logger {
  debug(message: string, details?: Readonly<Record<string, unknown>>): void
  info(message: string, details?: Readonly<Record<string, unknown>>): void
  warn(message: string, details?: Readonly<Record<string, unknown>>): void
  error(message: string, details?: Readonly<Record<string, unknown>>): void
}

/** What an instance tells as it happens, after it was stored. */
export interface Signals {
  /** An event was accepted and stored. */
  event: { readonly workspace_id: string; readonly event: StoredEvent; readonly attempts: number }
  /** An attempt ended. Headers and bodies are left out. */
  attempt: { readonly workspace_id: string; readonly attempt: Attempt }
  /** A delivery ended without success: nothing follows. */
  exhausted: { readonly workspace_id: string; readonly attempt: Attempt }
  'endpoint.disabled': {
    readonly workspace_id: string
    readonly endpoint_id: string
    readonly reason: 'gone' | 'failing'
  }
  /** Work was refused because too much waits. */
  overloaded: { readonly what: 'gateway' | 'storage' }
}

export type SignalName = keyof Signals
export type SignalListener<Name extends SignalName> = (signal: Signals[Name]) => void
