import type { Logger, SignalListener, SignalName, Signals } from '../contracts/observer.ts'
import { bareError } from '../errors.ts'

/** Who listens to what. */
export interface Observers {
  /** Calls the listener after each such thing was stored. Answers how to stop. What a listener throws is logged. */
  on<Name extends SignalName>(name: Name, listener: SignalListener<Name>): () => void
  emit<Name extends SignalName>(name: Name, signal: Signals[Name]): void
}

export function observers(log: Logger): Observers {
  const listeners = new Map<SignalName, Set<(signal: never) => void>>()

  function contain(name: SignalName, cause: unknown): void {
    log.error(`a listener of '${name}' failed`, { cause })
  }

  return {
    on(name, listener) {
      const set = listeners.get(name) ?? new Set()
      listeners.set(name, set)
      set.add(listener)
      return () => void set.delete(listener)
    },
    emit(name, signal) {
      for (const listener of listeners.get(name) ?? []) {
        try {
          // `on` put it there for this name. It may be async all the same; then its rejection is its failure.
          const answer: unknown = (listener as SignalListener<typeof name>)(signal)
          if (answer instanceof Promise) answer.catch((cause: unknown) => contain(name, cause))
        } catch (cause) {
          contain(name, cause)
        }
      }
    },
  }
}

/**
 * The host's logger, safe to call: its own failures are nobody's, since a log line may not end a delivery, and of errors
 * it is shown no more than `bareError` keeps.
 */
export function safeLogger(logger: Logger): Logger {
  const at =
    (level: keyof Logger): Logger['warn'] =>
    (message, details) => {
      try {
        if (details === undefined) logger[level](message)
        else logger[level](message, 'cause' in details ? { ...details, cause: bareError(details['cause']) } : details)
      } catch {
        // There is nowhere left to tell it.
      }
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
