import { PosthornError } from '../../src/errors.ts'
import type { Access, State } from './state.ts'

/**
 * A transaction that memory's `using` understands, as `memoryTransaction()` of `posthorn/testing` makes it. Whoever takes
 * part names what is to happen when it ends.
 */
export interface MemoryTransaction {
  /** Whether it was neither committed nor rolled back. */
  readonly open: boolean
  join(participant: Participant): void
}

export interface Participant {
  /** Throws, having written nothing, when what was staged cannot stand any more. */
  commit(): void
  rollback(): void
}

export function isMemoryTransaction(tx: unknown): tx is MemoryTransaction {
  return typeof tx === 'object' && tx !== null && 'open' in tx && 'join' in tx && typeof tx.join === 'function'
}

/** What transactions need of the memory they work on. */
export interface Base {
  state: State
  /** Raised by every write, so that a copy can tell whether it is old. */
  version: number
  /** The unique ids written by open transactions, each with what resolves when that transaction ends. */
  readonly claimed: Map<string, { readonly by: object; readonly ended: Promise<void> }>
  /** Tells listeners what was written. */
  tell(): void
}

/** The end of another open transaction that has written one of the keys, if such a transaction exists. */
export function otherClaim(base: Base, keys: readonly string[], by: object | null): Promise<void> | undefined {
  return keys.map((key) => base.claimed.get(key)).find((claim) => claim !== undefined && claim.by !== by)?.ended
}

/**
 * Reads and writes through a transaction. Writes are made on a copy of the state and remembered in order. When others
 * wrote meanwhile, the transaction takes a fresh copy and makes its writes again on that copy. The commit does so a
 * last time and puts the copy in place of the state, if every write still gives the same answer.
 */
export function stagedAccess(base: Base, tx: MemoryTransaction): Access {
  const steps: { readonly change: (state: State) => unknown; readonly answer: string }[] = []
  const claims: string[] = []
  let copy: { readonly state: State; readonly version: number } | null = null
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))

  const current = (): State => {
    if (!tx.open) throw new PosthornError('transaction_required', 'the transaction has ended')
    if (copy === null || copy.version !== base.version) copy = { state: replayed(), version: base.version }
    return copy.state
  }
  const replayed = (): State => {
    const state = structuredClone(base.state)
    for (const { change, answer } of steps) {
      if (JSON.stringify(change(state)) === answer) continue
      throw new Error('the transaction conflicts with what was written meanwhile; roll it back and try again')
    }
    return state
  }
  const leave = () => {
    for (const key of claims) base.claimed.delete(key)
    end()
  }

  tx.join({
    commit() {
      try {
        if (steps.length === 0) return
        base.state = current()
        base.version++
        base.tell()
      } finally {
        leave()
      }
    },
    rollback: leave,
  })

  return {
    read: async (look) => look(current()),
    async write(change, uniqueIds = []) {
      for (let other = otherClaim(base, uniqueIds, tx); other; other = otherClaim(base, uniqueIds, tx)) await other
      const answer = change(current())
      for (const key of uniqueIds) {
        if (base.claimed.has(key)) continue
        base.claimed.set(key, { by: tx, ended })
        claims.push(key)
      }
      steps.push({ change, answer: JSON.stringify(answer) })
      return answer
    },
  }
}
