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

/** A call that changed or revealed something, after the call was done. */
export interface ConfigurationChange {
  /** Who called, as `admin.authorize` answered or `posthorn.as` was given; null where nobody said. */
  readonly actor: string | null
  /** The name of the service function, such as `endpoints.update`. */
  readonly operation: string
  /** Id of the workspace. */
  readonly workspace_id: string
  /** The row that the call was about; null where the call was about the whole workspace. */
  readonly id: string | null
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
  /** `gone`: the receiver answered 410. `breaker`: too many attempts failed. `failing`: nothing but failures for days. */
  readonly reason: 'gone' | 'breaker' | 'failing'
}

/** All deliveries of an endpoint failed for half of `deliver.disableAfterDays`. */
export interface EndpointFailingSignal {
  /** Id of the workspace. */
  readonly workspace_id: string
  /** Id of the endpoint. */
  readonly endpoint_id: string
  /** When the first of the failed deliveries was made, unix milliseconds. */
  readonly since: number
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
  /** All deliveries of an endpoint failed for half of `deliver.disableAfterDays`. */
  'endpoint.failing': EndpointFailingSignal
  /** Somebody changed configuration, saw or replaced a secret, or sent something again. */
  change: ConfigurationChange
  /** Work was refused because too much waits. */
  overloaded: OverloadedSignal
}

/** The names of what an instance tells. */
export type SignalName = keyof Signals
/** Hears what an instance tells. What a listener throws is logged. */
export type SignalListener<Name extends SignalName, Catalogue extends object = AnyEvents> = (
  signal: Signals<Catalogue>[Name],
) => void
