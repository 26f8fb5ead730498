import type { Clock } from '../contracts/clock.ts'
import { Cancellation } from '../core/cancellation.ts'
import { InTurns, type Waits } from '../core/in-turns.ts'
import { isRetryable, PosthornError } from '../errors.ts'
import { startTimer } from './timer.ts'
import { waitingShares } from './waiting-shares.ts'
import { withDeadline } from './deadline.ts'

const maxEntries = 500
const maxBytes = 4 * 1024 * 1024
/**
 * A second flush starts beside the first flush when at least this many entries or bytes wait, or when the first takes
 * this long.
 */
const minEntriesBeside = 32
const minBytesBeside = 128 * 1024
const maxWaitMs = 5
const deadlineMs = 10_000
const lingerMs = 100
const maxLingering = 16

/** The one who waits for an answer. */
export interface Deferred<Answer> {
  resolve(answer: Answer): void
  reject(cause: unknown): void
}

export interface Batcher<Entry, Answer> {
  /**
   * Joins the next batch and answers for this entry alone. An entry that `lingers` waits up to 100 ms, for a batch that
   * others make, or until 16 entries wait. Beyond the share that the entry's workspace has of 10,000 waiting entries
   * and of 128 MiB, `add` throws `overloaded`.
   */
  add(entry: Entry, options?: { lingers?: boolean }): Promise<Answer>
  /** The same, told to the one who waits, so that thousands of entries need no promises. */
  addFor(entry: Entry, to: Deferred<Answer>, options?: { lingers?: boolean }): void
  /** Sends what lingers at once, and resolves when nothing waits and nothing is in flight. */
  idle(): Promise<void>
  /** Rejects all that wait or are in flight with `unavailable`; what is in flight may be stored all the same. Later calls are as before. */
  giveUp(): void
  readonly waiting: () => number
}

interface Waiting<Entry, Answer> extends Waits {
  readonly entry: Entry
  readonly workspace: string
  readonly bytes: number
  readonly rows: number
  /** Entries are numbered as they come. */
  readonly number: number
  readonly to: Deferred<Answer>
}

export interface BatcherOptions<Entry, Answer> {
  flush(batch: readonly Entry[]): Promise<readonly Answer[]>
  bytesOf(entry: Entry): number
  /** How many rows an entry makes, about. Default: 1. */
  rowsOf?(entry: Entry): number
  /** The most rows of a batch; an entry of more is a batch of its own. Default: 2,000. */
  readonly maxRows?: number
  /** The workspace of an entry. */
  workspaceOf(entry: Entry): string
  readonly clock: Clock
  readonly batches: boolean
  /**
   * While fewer rows than this were flushed in a turn of the event loop, a flush waits for nothing but calls made side by side.
   * Others wait for the turn's end. Default: 0.
   */
  readonly quickRows?: number
  readonly resends?: boolean
  /** Default: 2. */
  readonly maxInFlight?: number
  onOverload?(): void
}

/**
 * Turns single calls into batches, at most 500 entries, `maxRows` rows and 4 MiB each, in turns by workspace. At most
 * `maxInFlight` flushes are in flight: another one only when it is worth a separate statement (32 entries or 128 KiB), or
 * when the one before takes longer than 5 ms. Calls that come meanwhile go together in the next flush. A batch whose
 * connection was lost is sent once more, so `flush` must be idempotent. `batches: false` sends each entry at once and
 * alone, `resends: false` sends each batch once.
 */
export function batcher<Entry, Answer>(options: BatcherOptions<Entry, Answer>): Batcher<Entry, Answer> {
  const batches = new Batches(options)
  return {
    add: (entry, { lingers = false } = {}) =>
      new Promise((resolve, reject) => batches.add(entry, lingers, { resolve, reject })),
    addFor: (entry, to, { lingers = false } = {}) => batches.add(entry, lingers, to),
    idle: () => batches.idle(),
    giveUp: () => batches.giveUp(),
    waiting: () => batches.waiting,
  }
}

class Batches<Entry, Answer> {
  readonly #options: BatcherOptions<Entry, Answer>
  readonly #queue = new InTurns<Waiting<Entry, Answer>>()
  readonly #shares = waitingShares()
  readonly #maxInFlight: number
  readonly #lingering: DelayedCall
  readonly #patience: DelayedCall
  #numbers = 0
  /** Entries up to number `#hurried` are not to wait any longer; `#urgent` is how many of them wait. */
  #hurried = 0
  #urgent = 0
  #inFlight = 0
  /** Canceled for all that is in flight when it is given up. */
  #until = new Cancellation()
  #isScheduled = false
  /** How many rows were flushed in this turn. */
  #rowsOfTurn = 0
  #idlers: (() => void)[] = []

  constructor(options: BatcherOptions<Entry, Answer>) {
    this.#options = options
    this.#maxInFlight = options.maxInFlight ?? 2
    this.#lingering = new DelayedCall(options.clock, lingerMs, () => this.#hurry())
    this.#patience = new DelayedCall(options.clock, maxWaitMs, () => this.#sendAnother())
  }

  get waiting(): number {
    return this.#queue.size
  }

  add(entry: Entry, lingers: boolean, to: Deferred<Answer>): void {
    const { workspaceOf, bytesOf, rowsOf, batches, onOverload } = this.#options
    const workspace = workspaceOf(entry)
    const bytes = bytesOf(entry)
    if (!this.#shares.take({ workspace, bytes }, batches ? this.#queue.size : this.#inFlight)) {
      onOverload?.()
      return to.reject(new PosthornError('overloaded', 'too many writes wait for the storage'))
    }
    const rows = rowsOf?.(entry) ?? 1
    const waiting = { entry, workspace, bytes, rows, number: ++this.#numbers, to }
    if (!batches) return void this.#send([waiting])
    this.#queue.add(waiting)
    if (lingers && this.#queue.size < maxLingering) return this.#lingering.set()
    this.#hurryAll()
    this.#schedulePump()
  }

  async idle(): Promise<void> {
    this.#hurry()
    if (this.#inFlight > 0 || this.#queue.size > 0) await new Promise<void>((resolve) => this.#idlers.push(resolve))
  }

  giveUp(): void {
    this.#lingering.stop()
    this.#patience.stop()
    this.#urgent = 0
    for (const waiting of this.#queue.clear()) {
      this.#shares.give(waiting)
      waiting.to.reject(late)
    }
    const lost = this.#until
    this.#until = new Cancellation()
    lost.cancel()
  }

  /** The pump runs a turn later, so that calls of the same turn go together; or once the calls made side by side are there. */
  #schedulePump(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    const { clock, quickRows = 0 } = this.#options
    if (clock.afterTurn === undefined || this.#rowsOfTurn < quickRows) queueMicrotask(this.#pump)
    else clock.afterTurn(this.#pump)
  }

  readonly #pump = (): void => {
    this.#isScheduled = false
    while (this.#urgent > 0 && (this.#inFlight === 0 || this.#isWorthAnother())) void this.#send(this.#takeBatch())
    if (this.#urgent > 0 && this.#inFlight < this.#maxInFlight) this.#patience.set()
    if (this.#inFlight > 0 || this.#queue.size > 0) return
    const idlers = this.#idlers
    this.#idlers = []
    for (const wake of idlers) wake()
  }

  #isWorthAnother(): boolean {
    if (this.#inFlight >= this.#maxInFlight) return false
    return this.#urgent >= minEntriesBeside || this.#shares.bytes >= minBytesBeside
  }

  /** A flush that waits for a lock, or for a slow engine, keeps nobody else waiting for long. */
  #sendAnother(): void {
    if (this.#urgent > 0 && this.#inFlight < this.#maxInFlight) void this.#send(this.#takeBatch())
  }

  #takeBatch(): Waiting<Entry, Answer>[] {
    this.#patience.stop()
    const { maxRows = 2000 } = this.#options
    const batch: Waiting<Entry, Answer>[] = []
    let bytes = 0
    let rows = 0
    this.#queue.takeWhile((next) => {
      bytes += next.bytes
      rows += next.rows
      const isFull = batch.length === maxEntries || bytes > maxBytes || rows > maxRows
      if (isFull && batch.length > 0) return false
      this.#shares.give(next)
      batch.push(next)
      if (next.number <= this.#hurried) this.#urgent--
      return true
    })
    if (this.#queue.size === 0) this.#lingering.stop()
    this.#countRows(batch)
    return batch
  }

  #countRows(batch: readonly Waiting<Entry, Answer>[]): void {
    const { clock, quickRows = 0 } = this.#options
    if (clock.afterTurn === undefined || quickRows === 0) return
    if (this.#rowsOfTurn === 0) clock.afterTurn(() => (this.#rowsOfTurn = 0))
    for (const { rows } of batch) this.#rowsOfTurn += rows
  }

  #hurryAll(): void {
    this.#hurried = this.#numbers
    this.#urgent = this.#queue.size
  }

  #hurry(): void {
    this.#lingering.stop()
    this.#hurryAll()
    this.#sendAnother()
    this.#pump()
  }

  async #send(batch: readonly Waiting<Entry, Answer>[]): Promise<void> {
    this.#inFlight++
    let answers: readonly Answer[] = []
    let failure: { readonly cause: unknown } | null = null
    try {
      answers = await this.#flush(batch.map(({ entry }) => entry))
    } catch (cause) {
      failure = { cause }
    }
    this.#inFlight--
    if (!this.#options.batches) for (const waiting of batch) this.#shares.give(waiting)
    this.#pump() // first: those who are told may have much to do
    batch.forEach(({ to }, i) => {
      if (failure !== null) to.reject(failure.cause)
      else tell(to, answers[i]!) // an answer for each
    })
  }

  async #flush(entries: readonly Entry[]): Promise<readonly Answer[]> {
    const { clock, flush, resends } = this.#options
    const until = this.#until
    const inTime = () => withDeadline(clock, deadlineMs, flush(entries), () => late, until)
    try {
      return await inTime()
    } catch (cause) {
      if (resends === false || !isRetryable(cause) || cause === late) throw cause
      return await inTime()
    }
  }
}

/** What goes wrong with one who is told is nothing to the others. */
function tell<Answer>(to: Deferred<Answer>, answer: Answer): void {
  try {
    to.resolve(answer)
  } catch (cause) {
    to.reject(cause)
  }
}

/** A timer that is set once until it rings, or is stopped. */
class DelayedCall {
  readonly #clock: Clock
  readonly #ms: number
  readonly #ring: () => void
  #stop: (() => void) | null = null

  constructor(clock: Clock, ms: number, ring: () => void) {
    this.#clock = clock
    this.#ms = ms
    this.#ring = ring
  }

  set(): void {
    this.#stop ??= startTimer(this.#clock, this.#ms, () => {
      this.#stop = null
      this.#ring()
    })
  }

  stop(): void {
    this.#stop?.()
    this.#stop = null
  }
}

const late = new PosthornError('unavailable', 'the storage did not answer in time')
