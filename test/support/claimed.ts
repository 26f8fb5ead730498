import type { Queue } from '../../src/contracts/queue.ts'
import type { Storage } from '../../src/contracts/storage.ts'

/** The same engine with a queue that takes no leases: every job is claimed, though its publisher could deliver it. */
export function claimed(storage: Storage): Storage {
  return { ...storage, ...(storage.queue !== undefined && { queue: claimedQueue(storage.queue) }) }
}

export function claimedQueue({ takesLeases: _, ...queue }: Queue): Queue {
  return queue
}
