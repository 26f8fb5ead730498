import type { Attempt } from '../schema/attempt.ts'
import type { AnyEvents } from '../schema/catalogue.ts'
import type { StoredEvent } from '../schema/event.ts'

/** Console-like. `details` hold no secret and no payload. */
export interface Logger {
  /** What helps whoever looks for a fault. */
  debug(message: string, details?: Readonly<Record<string, unknown>>): void
  /** What happens in the ordinary course of things. */
  info(message: string, details?: Readonly<Record<string, unknown>>): void
  /** What goes on, but should be looked at. */
  warn(message: string, details?: Readonly<Record<string, unknown>>): void
  /** What failed, and a person should act on. */
  error(message: string, details?: Readonly<Record<string, unknown>>): void
}

/** An event was accepted and stored. */
export interface EventSignal<Type extends string = string> {
  /** Id of the workspace. */
  readonly workspace_id: string
  /** The event; `data` is its text. */
  readonly event: StoredEvent<Type>
  /** How many endpoints the event goes to. */
  readonly attempts: number
}

/** An attempt ended. Headers and bodies are left out. */
export interface AttemptSignal {
  /** Id of the workspace. */
  readonly workspace_id: string
  /** The attempt, without headers and bodies. */
  readonly attempt: Attempt
}

/** An endpoint was disabled by the service. */
export interface EndpointDisabledSignal {
  /** Id of the workspace. */
  readonly workspace_id: string
  /** Id of the endpoint. */
  readonly endpoint_id: string
  /** `gone`: the receiver answered 410. `failing`: the circuit breaker opened. */
  readonly reason: 'gone' | 'failing'
}

/** Work was refused because too much waits. */
export interface OverloadedSignal {
  /** Where the work was refused. */
  readonly what: 'gateway' | 'storage'
}

/** What an instance tells as it happens, after it was stored. */
export interface Signals<Catalogue extends object = AnyEvents> {
  /** An event was accepted and stored. */
  event: EventSignal<keyof Catalogue & string>
  /** An attempt ended. */
  attempt: AttemptSignal
  /** A delivery ended without success: nothing follows. */
  exhausted: AttemptSignal
  /** An endpoint was disabled by the service. */
  'endpoint.disabled': EndpointDisabledSignal
  /** Work was refused because too much waits. */
  overloaded: OverloadedSignal
}

/** The names of what an instance tells. */
export type SignalName = keyof Signals
/** Hears what an instance tells. What a listener throws is logged. */
export type SignalListener<Name extends SignalName, Catalogue extends object = AnyEvents> = (
  signal: Signals<Catalogue>[Name],
) => void
