import type { Clock } from '../contracts/clock.ts'
import { Cancellation } from '../core/cancellation.ts'
import { inTurns } from '../core/in-turns.ts'
import { isRetryable, PosthornError } from '../errors.ts'
import { startTimer } from './timer.ts'
import { waitingShares } from './waiting-shares.ts'
import { withDeadline } from './deadline.ts'

const mostEntries = 500
const mostBytes = 4 * 1024 * 1024
const mostInFlight = 2
const deadlineMs = 10_000
const lingerMs = 50

export interface Batcher<Entry, Answer> {
  /**
   * Joins the next batch and answers for this entry alone; one that `lingers` makes no batch of its own for 50 ms.
   * Beyond the share that the entry's workspace has of 10,000 waiting entries and of 128 MiB it throws `overloaded`.
   */
  add(entry: Entry, options?: { lingers?: boolean }): Promise<Answer>
  /** Sends what lingers at once, and resolves when nothing waits and nothing is in flight. */
  idle(): Promise<void>
  /** Rejects all that wait or are in flight with `unavailable`; what is in flight may be stored all the same. Later calls are as before. */
  giveUp(): void
  readonly waiting: () => number
}

interface Waiting<Entry, Answer> {
  readonly entry: Entry
  readonly workspace: string
  readonly bytes: number
  /** Entries are numbered as they come. */
  readonly number: number
  resolve(answer: Answer): void
  reject(cause: unknown): void
}

/**
 * Turns single calls into batches without timers: at most two flushes are in flight, and calls that come meanwhile go
 * together in the next one, at most 500 entries and 4 MiB, in turns by workspace. A batch whose connection was lost is sent
 * once more, so `flush` must be idempotent. `batches: false` sends each entry at once and alone, `resends: false` sends each
 * batch once.
 */
export function batcher<Entry, Answer>(options: {
  flush(batch: readonly Entry[]): Promise<readonly Answer[]>
  bytesOf(entry: Entry): number
  /** The workspace of an entry. */
  workspaceOf(entry: Entry): string
  clock: Clock
  batches: boolean
  resends?: boolean
  onOverload?(): void
}): Batcher<Entry, Answer> {
  const queue = inTurns<Waiting<Entry, Answer>>()
  const { take: mayWait, give: release } = waitingShares()
  let numbers = 0
  /** Entries up to this number are not to wait any longer, and how many of them there are. */
  let hurried = 0
  let urgent = 0
  let stopLingering: (() => void) | null = null
  let inFlight = 0
  /** Canceled for all that is in flight when it is given up. */
  let patience = new Cancellation()
  let scheduled = false
  let idlers: (() => void)[] = []

  function pump(): void {
    scheduled = false
    while (inFlight < mostInFlight && urgent > 0) void send(takeBatch())
    if (inFlight === 0 && queue.size === 0) {
      const waking = idlers
      idlers = []
      for (const wake of waking) wake()
    }
  }

  function takeBatch(): Waiting<Entry, Answer>[] {
    const batch: Waiting<Entry, Answer>[] = []
    let bytes = 0
    for (let next = queue.peek(); next !== undefined && batch.length < mostEntries; next = queue.peek()) {
      bytes += next.bytes
      if (bytes > mostBytes && batch.length > 0) break
      queue.nextOf()
      release(next)
      batch.push(next)
      if (next.number <= hurried) urgent--
    }
    if (queue.size === 0) {
      stopLingering?.()
      stopLingering = null
    }
    return batch
  }

  function hurryAll(): void {
    hurried = numbers
    urgent = queue.size
  }

  function hurry(): void {
    stopLingering?.()
    stopLingering = null
    hurryAll()
    pump()
  }

  async function send(batch: readonly Waiting<Entry, Answer>[]): Promise<void> {
    inFlight++
    const until = patience
    const entries = batch.map(({ entry }) => entry)
    const flush = () => withDeadline(options.clock, deadlineMs, options.flush(entries), () => late, until)
    try {
      const answers = await (options.resends === false ? flush() : flush().catch(againIfLost(flush)))
      batch.forEach((waiting, i) => waiting.resolve(answers[i]!))
    } catch (cause) {
      for (const waiting of batch) waiting.reject(cause)
    } finally {
      inFlight--
      if (!options.batches) for (const waiting of batch) release(waiting)
      pump()
    }
  }

  return {
    add(entry, { lingers = false } = {}) {
      const workspace = options.workspaceOf(entry)
      const bytes = options.bytesOf(entry)
      if (!mayWait({ workspace, bytes }, options.batches ? queue.size : inFlight)) {
        options.onOverload?.()
        return Promise.reject(new PosthornError('overloaded', 'too many writes wait for the storage'))
      }
      return new Promise((resolve, reject) => {
        const waiting = { entry, workspace, bytes, number: ++numbers, resolve, reject }
        if (!options.batches) {
          void send([waiting])
          return
        }
        queue.add(waiting)
        if (lingers) {
          stopLingering ??= startTimer(options.clock, lingerMs, hurry)
          return
        }
        hurryAll()
        if (!scheduled) {
          // One turn of the microtask queue later, so that calls made side by side go together.
          scheduled = true
          queueMicrotask(pump)
        }
      })
    },
    giveUp() {
      stopLingering?.()
      stopLingering = null
      urgent = 0
      for (const waiting of queue.clear()) {
        release(waiting)
        waiting.reject(late)
      }
      const lost = patience
      patience = new Cancellation()
      lost.cancel()
    },
    async idle() {
      hurry()
      if (inFlight > 0 || queue.size > 0) await new Promise<void>((resolve) => idlers.push(resolve))
    },
    waiting: () => queue.size,
  }
}

/** Sends a batch once more whose connection was lost. */
function againIfLost<Answer>(flush: () => Promise<Answer>): (cause: unknown) => Promise<Answer> {
  return async (cause) => {
    if (!isRetryable(cause) || cause === late) throw cause
    return await flush()
  }
}

const late = new PosthornError('unavailable', 'the storage did not answer in time')
