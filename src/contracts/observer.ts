import type { Attempt } from '../schema/attempt.ts'
import type { StoredEvent } from '../schema/event.ts'

/** Console-like. `details` hold no secret and no payload. */
export interface Logger {
  debug(message: string, details?: Readonly<Record<string, unknown>>): void
  info(message: string, details?: Readonly<Record<string, unknown>>): void
  warn(message: string, details?: Readonly<Record<string, unknown>>): void
  error(message: string, details?: Readonly<Record<string, unknown>>): void
}

/** A call that changed or revealed something, after the call was done. */
export interface ConfigurationChange {
  /** Who called, as `admin.authorize` answered or `posthorn.as` was told; null where nobody said. */
  readonly actor: string | null
  /** The name of the service function, such as `endpoints.update`. */
  readonly operation: string
  readonly workspace_id: string
  /** The row that the call was about; null where the call was about the whole workspace. */
  readonly id: string | null
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
    /** `gone`: the receiver answered 410. `breaker`: too many attempts failed. `failing`: nothing but failures for days. */
    readonly reason: 'gone' | 'breaker' | 'failing'
  }
  /** All deliveries of an endpoint failed for half of `deliver.disableAfterDays`. `since`: when the first of them was made. */
  'endpoint.failing': { readonly workspace_id: string; readonly endpoint_id: string; readonly since: number }
  /** Somebody changed configuration, saw or replaced a secret, or sent something again. */
  change: ConfigurationChange
  /** Work was refused because too much waits. */
  overloaded: { readonly what: 'gateway' | 'storage' }
}

export type SignalName = keyof Signals
export type SignalListener<Name extends SignalName> = (signal: Signals[Name]) => void
