import { mayTake } from '../core/fair-share.ts'

const maxWaiting = 10_000
const maxWaitingBytes = 128 * 1024 * 1024

/** An entry that waits for its batch. */
interface Entry {
  readonly workspace: string
  readonly bytes: number
}

export interface WaitingShares {
  /**
   * Counts an entry as waiting, unless the entry's workspace would then have more than its share. `waiting`: entries
   * that wait now.
   */
  readonly take: (entry: Entry, waiting: number) => boolean
  /** An entry waits no longer. */
  readonly give: (entry: Entry) => void
  /** Bytes of all entries that wait. */
  readonly bytes: number
}

/** How many entries, and how many bytes of them, each workspace has waiting: at most its share. */
export function waitingShares(): WaitingShares {
  const held = new Map<string, { entries: number; bytes: number }>()
  let waitingBytes = 0
  return {
    take({ workspace, bytes }, waiting) {
      const own = held.get(workspace)
      if (!mayTake(own?.entries ?? 0, maxWaiting - waiting)) return false
      if (!mayTake(own?.bytes ?? 0, maxWaitingBytes - waitingBytes)) return false
      if (own === undefined) held.set(workspace, { entries: 1, bytes })
      else {
        own.entries++
        own.bytes += bytes
      }
      waitingBytes += bytes
      return true
    },

    give({ workspace, bytes }) {
      waitingBytes -= bytes
      const own = held.get(workspace)
      if (own === undefined) return
      own.bytes -= bytes
      if (--own.entries === 0) held.delete(workspace)
    },

    get bytes() {
      return waitingBytes
    },
  }
}
