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
          // A listener that `on` registered for this name. It may be async all the same; then a rejection of its
          // promise is its failure.
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
 * The host's logger, safe to call. A failure of the logger is ignored, since a log line may not end a delivery. Of
 * errors it gets no more than `bareError` leaves. Loggers that take details before the message get them in that order.
 */
export function safeLogger(logger: Logger): Logger {
  const detailsFirst = takesDetailsFirst(logger)
  const write = (level: keyof Logger, message: string, details?: Details): unknown => {
    if (details === undefined) return logger[level](message)
    const shown = 'cause' in details ? { ...details, cause: legible(bareError(details['cause'])) } : details
    if (detailsFirst) return (logger[level] as unknown as DetailsFirst).call(logger, shown, message)
    return logger[level](message, shown)
  }
  const at =
    (level: keyof Logger): Logger['warn'] =>
    (message, details) => {
      try {
        // It may be async all the same.
        const answer: unknown = write(level, message, details)
        if (answer instanceof Promise) answer.catch(() => {})
      } catch {
        // A failing logger leaves no place to report the failure.
      }
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

type Details = Parameters<Logger['warn']>[1]
type DetailsFirst = (details: object, message: string) => unknown

/** Whether a logger is of the family of pino or bunyan, which drop an object that follows the message. */
function takesDetailsFirst(logger: object): boolean {
  const { bindings, setBindings, addStream } = logger as Readonly<Record<string, unknown>> // of whatever the host logs with
  const isPino = typeof bindings === 'function' && typeof setBindings === 'function'
  return isPino || typeof addStream === 'function'
}

/** An error that is no `{}` in JSON, in which many loggers write their lines. */
function legible(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  const toJSON = () => ({
    name,
    message,
    ...(error as object),
    stack,
    ...(cause !== undefined && { cause: legible(cause) }),
  })
  return Object.defineProperty(error, 'toJSON', { value: toJSON })
}
