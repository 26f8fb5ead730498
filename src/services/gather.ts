import type { Clock } from '../contracts/clock.ts'
import { Cancellation } from '../core/cancellation.ts'
import { isRetryable, PosthornError } from '../errors.ts'
import { alarm } from './alarm.ts'
import { inTime } from './in-time.ts'

const mostEntries = 500
const mostBytes = 4 * 1024 * 1024
const mostInFlight = 2
const mostWaiting = 10_000
const mostWaitingBytes = 128 * 1024 * 1024
const deadlineMs = 10_000
const lingerMs = 50

export interface Gatherer<Entry, Answer> {
  /**
   * Joins the next batch and answers for this entry alone; one that `lingers` makes no batch of its own for 50 ms.
   * Beyond 10,000 waiting entries, or 128 MiB of them, it throws `overloaded`.
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
  readonly bytes: number
  resolve(answer: Answer): void
  reject(cause: unknown): void
}

/**
 * Turns single calls into batches without timers: at most two flushes are in flight, and calls that come meanwhile go
 * together in the next one, at most 500 entries and 4 MiB. A batch whose connection was lost is sent once more, so
 * `flush` must be idempotent. `gathers: false` sends each entry at once and alone,
 * `resends: false` sends each batch once.
 */
export function gatherer<Entry, Answer>(options: {
  flush(batch: readonly Entry[]): Promise<readonly Answer[]>
  bytesOf(entry: Entry): number
  clock: Clock
  gathers: boolean
  resends?: boolean
  onOverload?(): void
}): Gatherer<Entry, Answer> {
  const queue: Waiting<Entry, Answer>[] = []
  let head = 0
  /** Entries before this place are not to wait any longer. */
  let hurried = 0
  let stopLingering: (() => void) | null = null
  let waitingBytes = 0
  let inFlight = 0
  /** Canceled for all that is in flight when it is given up. */
  let patience = new Cancellation()
  let scheduled = false
  let idlers: (() => void)[] = []

  function pump(): void {
    scheduled = false
    while (inFlight < mostInFlight && head < hurried) void send(takeBatch())
    if (inFlight === 0 && head === queue.length) {
      const waking = idlers
      idlers = []
      for (const wake of waking) wake()
    }
  }

  function takeBatch(): Waiting<Entry, Answer>[] {
    const from = head
    let bytes = 0
    while (head < queue.length && head - from < mostEntries) {
      bytes += queue[head]!.bytes
      if (bytes > mostBytes && head > from) break
      head++
    }
    const batch = queue.slice(from, head)
    waitingBytes -= bytesIn(batch)
    // The queue is cut now and then, not at every batch, so that taking stays cheap.
    if (head === queue.length || head > mostWaiting) {
      queue.splice(0, head)
      hurried = Math.max(hurried - head, 0)
      head = 0
    }
    if (queue.length === 0) {
      stopLingering?.()
      stopLingering = null
    }
    return batch
  }

  function hurry(): void {
    stopLingering?.()
    stopLingering = null
    hurried = queue.length
    pump()
  }

  async function send(batch: readonly Waiting<Entry, Answer>[]): Promise<void> {
    inFlight++
    const until = patience
    const entries = batch.map(({ entry }) => entry)
    const flush = () => inTime(options.clock, deadlineMs, options.flush(entries), () => late, until)
    try {
      let answers: readonly Answer[]
      try {
        answers = await flush()
      } catch (cause) {
        if (options.resends === false || !isRetryable(cause) || cause === late) throw cause
        answers = await flush()
      }
      batch.forEach((waiting, i) => waiting.resolve(answers[i]!))
    } catch (cause) {
      for (const waiting of batch) waiting.reject(cause)
    } finally {
      inFlight--
      pump()
    }
  }

  return {
    add(entry, { lingers = false } = {}) {
      const waits = options.gathers ? queue.length - head : inFlight
      if (waits >= mostWaiting || waitingBytes >= mostWaitingBytes) {
        options.onOverload?.()
        return Promise.reject(new PosthornError('overloaded', 'too many writes wait for the storage'))
      }
      return new Promise((resolve, reject) => {
        const waiting = { entry, bytes: options.bytesOf(entry), resolve, reject }
        if (!options.gathers) {
          void send([waiting])
          return
        }
        queue.push(waiting)
        waitingBytes += waiting.bytes
        if (lingers) {
          stopLingering ??= alarm(options.clock, lingerMs, hurry)
          return
        }
        hurried = queue.length
        if (!scheduled) {
          // One turn of the microtask queue later, so that calls made side by side go together.
          scheduled = true
          queueMicrotask(pump)
        }
      })
    },
    giveUp() {
      const given = queue.splice(0).slice(head)
      head = 0
      hurried = 0
      waitingBytes = 0
      stopLingering?.()
      stopLingering = null
      for (const waiting of given) waiting.reject(late)
      const lost = patience
      patience = new Cancellation()
      lost.cancel()
    },
    async idle() {
      hurry()
      if (inFlight > 0 || head < queue.length) await new Promise<void>((resolve) => idlers.push(resolve))
    },
    waiting: () => queue.length - head,
  }
}

function bytesIn(batch: readonly { readonly bytes: number }[]): number {
  return batch.reduce((sum, { bytes }) => sum + bytes, 0)
}

const late = new PosthornError('unavailable', 'the storage did not answer in time')
