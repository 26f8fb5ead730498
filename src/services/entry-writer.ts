import type { Context } from '../context.ts'
import type { IngestAnswer, IngestEntry } from '../contracts/storage/events.ts'
import { maxUsualData } from '../core/large-data.ts'
import type { Batcher, Deferred } from '../runtime/batcher.ts'
import { lanes } from '../runtime/lanes.ts'
import { jobOf } from './job-of.ts'

/** How long a held key is asked for, and how often. */
const heldMs = 10_000
const firstPauseMs = 10
const maxPauseMs = 250
/** An event with more attempts is wide: it takes an engine far longer than others. So is one with large data. */
const maxNarrow = 32
/** In a turn of the event loop a storage in this process is given the first rows as they come; what follows is gathered. */
const quickRows = 32
/** What a planned attempt takes of the memory of this process, about. */
const attemptBytes = 256

/** Writes events with their attempts, several in a batch. An event for a thousand endpoints keeps no other event waiting. */
export class EntryWriter {
  readonly #ctx: Context
  readonly #plain: Batcher<IngestEntry, IngestAnswer>
  /** For entries whose unique_id or id may be held by a transaction of a host. Other entries shall not wait with them. */
  readonly #contested: Batcher<IngestEntry, IngestAnswer>

  constructor(ctx: Context) {
    this.#ctx = ctx
    const options = {
      flush: (entries: readonly IngestEntry[]) => this.#flush(entries),
      bytesOf: ({ event, attempts }: IngestEntry) => event.data.length + attempts.length * attemptBytes,
      rowsOf: ({ attempts }: IngestEntry) => 1 + attempts.length,
      workspaceOf: ({ workspaceId }: IngestEntry) => workspaceId,
      isWide: ({ event, attempts }: IngestEntry) => attempts.length > maxNarrow || event.data.length > maxUsualData,
      clock: ctx.clock,
      batches: ctx.batches,
      quickRows: ctx.storage.inProcess === true ? quickRows : 0,
      resends: ctx.resends,
      onOverload: () => ctx.emit('overloaded', { what: 'storage' }),
    }
    this.#plain = lanes({ ...options, maxWideInFlight: 1 })
    this.#contested = lanes({ ...options, maxWideInFlight: 2 }) // one may wait for a lock
  }

  /** Adds an entry to a batch. A held entry is asked for again and again, and takes no connection meanwhile. */
  write(entry: IngestEntry, to: Deferred<IngestAnswer>): void {
    if (entry.event.unique_id === null && entry.token === undefined) return this.#plain.addFor(entry, to)
    this.#writeUntilNotHeld(entry).then(
      (answer) => to.resolve(answer),
      (cause: unknown) => to.reject(cause),
    )
  }

  async #writeUntilNotHeld(entry: IngestEntry): Promise<IngestAnswer> {
    const { clock } = this.#ctx
    const since = clock.elapsed()
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      const answer = await this.#contested.add(entry)
      if (answer.kind !== 'held' || clock.elapsed() - since >= heldMs) return answer
      await clock.sleep(pauseMs)
    }
  }

  async #flush(entries: readonly IngestEntry[]): Promise<readonly IngestAnswer[]> {
    const { storage, ownQueue } = this.#ctx
    const answers = await storage.events.ingest(entries, { enqueue: ownQueue })
    // The worker took over what is held, and what has a lease for another queue.
    const jobs = entries.flatMap(({ workspaceId, attempts }, i) => {
      const answer = answers[i]!
      if (ownQueue && answer.kind === 'stored' && answer.held?.length === attempts.length) return []
      return answer.kind === 'stored'
        ? attempts.flatMap((attempt) =>
            attempt.lease && (!ownQueue || answer.held?.includes(attempt.id)) ? [] : jobOf(workspaceId, attempt),
          )
        : []
    })
    if (jobs.length > 0) this.#ctx.enqueued(jobs)
    return answers
  }

  /** Resolves when nothing waits to be written. */
  async idle(): Promise<void> {
    await Promise.all([this.#plain.idle(), this.#contested.idle()])
  }

  /** Rejects with `unavailable` what waits for the storage. */
  giveUp(): void {
    this.#plain.giveUp()
    this.#contested.giveUp()
  }
}
