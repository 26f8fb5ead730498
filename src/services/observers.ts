import type { Logger, SignalListener, SignalName, Signals } from '../contracts/observer.ts'

/** Who listens to what. */
export interface Observers {
  /** Calls the listener after each such thing was stored. Answers how to stop. What a listener throws is logged. */
  on<Name extends SignalName>(name: Name, listener: SignalListener<Name>): () => void
  emit<Name extends SignalName>(name: Name, signal: Signals[Name]): void
}

export function observers(log: Logger): Observers {
  const listeners: { [Name in SignalName]?: Set<SignalListener<Name>> } = {}

  function contain(name: SignalName, cause: unknown): void {
    log.error(`a listener of '${name}' failed`, { cause })
  }

  return {
    on(name, listener) {
      // The set of a name holds listeners of that name alone, which the mapped type cannot tell here.
      const set = ((listeners[name] as Set<SignalListener<typeof name>> | undefined) ??= new Set())
      listeners[name] = set as (typeof listeners)[typeof name]
      set.add(listener)
      return () => void set.delete(listener)
    },
    emit(name, signal) {
      for (const listener of listeners[name] ?? []) {
        try {
          // A listener may be async all the same; then its rejection is its failure.
          const answer: unknown = listener(signal)
          if (answer instanceof Promise) answer.catch((cause: unknown) => contain(name, cause))
        } catch (cause) {
          contain(name, cause)
        }
      }
    },
  }
}
