import type { PostgresJs } from './clients.ts'

/** A connection of postgres.js, as `onexecute` gets it. */
interface Connection {
  terminate?(): void
}

/**
 * A statement of postgres.js. `active`: the connection works on this statement. `canceller`: asks the server to end the statement
 * that it is given; null once that was done.
 */
export type Pending = PromiseLike<unknown[]> & {
  readonly active?: boolean
  canceller?: ((statement: Pending) => Promise<unknown>) | null
}

/** Where a statement was sent. */
export interface Sending {
  /** Undefined before, and where it is not known. */
  connection(): Connection | undefined
}

type Send = (
  instance: PostgresJs,
  text: string,
  values: readonly (string | number | null)[],
  options: {
    readonly prepare: boolean
    /** Whether the connection may get further statements before this statement is answered. */
    readonly takesMore: boolean
    /** Is called once. */
    sent?(): void
  },
) => { readonly pending: Pending; readonly sending: Sending }

/** The connections of an instance of postgres.js, as far as statements were sent on them here. */
export interface Connections {
  send: Send
  /** How many of them have no statement of ours. */
  idle(): number
}

/**
 * postgres.js says nowhere on which connection a statement was sent. But at that moment it sets `state` of the statement to
 * an object that belongs to the connection; and it hands the connection to `onexecute`, unless it has to ask for types first.
 */
export function connections(): Connections {
  const byState = new WeakMap<object, Connection>()
  const statements = new Map<object, number>()
  const count = (state: object, by: number): void =>
    void statements.set(state, Math.max(0, (statements.get(state) ?? 0) + by))

  return {
    send(instance, text, values, { prepare, takesMore, sent }) {
      let state: object | null = null
      const options = {
        prepare,
        onexecute(connection: Connection) {
          if (state !== null) byState.set(state, connection)
          return takesMore
        },
      }
      const pending: Pending = instance.unsafe(text, values as never[], options)
      Object.defineProperty(pending, 'state', {
        get: () => state,
        set(next: object | null) {
          if (next === null || next === state) return
          if (state === null) sent?.()
          else count(state, -1)
          count(next, 1)
          state = next
        },
      })
      const ended = (): void => void (state !== null && count(state, -1))
      pending.then(ended, ended)
      return {
        pending,
        sending: { connection: () => (state === null ? undefined : byState.get(state)) },
      }
    },
    idle: () => [...statements.values()].filter((count) => count === 0).length,
  }
}
