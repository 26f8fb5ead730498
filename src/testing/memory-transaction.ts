import type { MemoryTransaction } from '../../adapters/memory/index.ts'

/** A transaction of memory, in the place of a database client inside `BEGIN`. */
export interface TestTransaction extends MemoryTransaction {
  /**
   * From now on everybody sees what was written through the transaction. Rejects, with nothing written, when the
   * transaction conflicts with other writes.
   */
  commit(): Promise<void>
  /** Nothing of it ever was. */
  rollback(): Promise<void>
}

/**
 * A transaction to test host code that publishes inside a database transaction, without a database. What is written is
 * seen through `using(tx)` alone until the commit. It copies the whole memory, so it is for tests.
 *
 * @example
 * const tx = memoryTransaction()
 * await posthorn.using(tx).events.create('default', { event_type: 'invoice.paid', data: {} })
 * await tx.commit()
 */
export function memoryTransaction(): TestTransaction {
  const participants: Parameters<MemoryTransaction['join']>[0][] = []
  let open = true
  return {
    get open() {
      return open
    },
    join(participant) {
      participants.push(participant)
    },
    async commit() {
      if (!open) throw new Error('the transaction has ended')
      try {
        for (const participant of participants) participant.commit()
      } finally {
        open = false
      }
    },
    async rollback() {
      if (!open) return
      open = false
      for (const participant of participants) participant.rollback()
    },
  }
}
