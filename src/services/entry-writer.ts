import type { Context } from '../context.ts'
import type { IngestAnswer, IngestEntry } from '../contracts/storage/events.ts'
import { type Batcher, batcher } from '../runtime/batcher.ts'
import { jobOf } from './job-of.ts'

/** How long a held key is asked for, and how often. */
const heldMs = 10_000
const firstPauseMs = 10
const maxPauseMs = 250
/** An event with more attempts is wide: it takes an engine far longer than others. */
const maxNarrow = 32
/** What a planned attempt takes of the memory of this process, about. */
const attemptBytes = 256

/**
 * Entries that share batches, the wide ones apart: an event for a thousand endpoints keeps no other event waiting. One flush of
 * wide entries is in flight, so that the engine is free for others between two of them. Contested ones have two, since one
 * may wait for a lock.
 */
interface Lane {
  readonly narrow: Batcher<IngestEntry, IngestAnswer>
  readonly wide: Batcher<IngestEntry, IngestAnswer>
}

/** Writes events with their attempts, several in a batch. */
export class EntryWriter {
  readonly #ctx: Context
  readonly #plain: Lane
  /** For entries whose unique_id or id may be held by a transaction of a host. Other entries shall not wait with them. */
  readonly #contested: Lane

  constructor(ctx: Context) {
    this.#ctx = ctx
    const options = {
      flush: (entries: readonly IngestEntry[]) => this.#flush(entries),
      bytesOf: ({ event, attempts }: IngestEntry) => event.data.length + attempts.length * attemptBytes,
      rowsOf: ({ attempts }: IngestEntry) => 1 + attempts.length,
      workspaceOf: ({ workspaceId }: IngestEntry) => workspaceId,
      clock: ctx.clock,
      batches: ctx.batches,
      resends: ctx.resends,
      onOverload: () => ctx.emit('overloaded', { what: 'storage' }),
    }
    this.#plain = { narrow: batcher(options), wide: batcher({ ...options, maxInFlight: 1 }) }
    this.#contested = { narrow: batcher(options), wide: batcher(options) }
  }

  /** Adds an entry to a batch. A held entry is asked for again and again, and takes no connection meanwhile. */
  write(entry: IngestEntry): Promise<IngestAnswer> {
    const isPlain = entry.event.unique_id === null && entry.token === undefined
    return isPlain ? add(this.#plain, entry) : this.#writeUntilNotHeld(entry)
  }

  async #writeUntilNotHeld(entry: IngestEntry): Promise<IngestAnswer> {
    const { clock } = this.#ctx
    const since = clock.elapsed()
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      const answer = await add(this.#contested, entry)
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
    await Promise.all(this.#all.map((each) => each.idle()))
  }

  /** Rejects with `unavailable` what waits for the storage. */
  giveUp(): void {
    for (const each of this.#all) each.giveUp()
  }

  get #all(): readonly Batcher<IngestEntry, IngestAnswer>[] {
    return [this.#plain, this.#contested].flatMap(({ narrow, wide }) => [narrow, wide])
  }
}

function add({ narrow, wide }: Lane, entry: IngestEntry): Promise<IngestAnswer> {
  return (entry.attempts.length > maxNarrow ? wide : narrow).add(entry)
}
