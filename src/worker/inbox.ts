import type { Context } from '../context.ts'
import type { Taken } from '../contracts/inbox.ts'
import { isRetryable, PosthornError } from '../errors.ts'
import { type Batcher, batcher } from '../runtime/batcher.ts'
import type { Ingest } from '../services/ingest.ts'

/** What this process takes, or has in hand, at most. */
export const maxMessages = 500
export const maxMessageBytes = 16 * 1024 * 1024
export const messageLeaseMs = 30_000
const maxTries = 5
const againMs = 1000

/** `away`: the storage does not answer. `again`: a later take tries again. */
type Outcome = 'done' | 'away' | 'again' | 'bad'

/** Stores what async sources accepted. */
export class InboxConsumer {
  readonly #ctx: Context
  readonly #ingest: Ingest
  /** Removes messages that were handed over, several in a call. */
  readonly #removals: Batcher<Taken, null>
  readonly #handling = new Set<Promise<Outcome>>()
  #mayWait = true

  constructor(ctx: Context, ingest: Ingest) {
    this.#ctx = ctx
    this.#ingest = ingest
    this.#removals = batcher({
      async flush(messages) {
        await ctx.inbox.done(messages)
        return messages.map(() => null)
      },
      bytesOf: () => 0,
      workspaceOf: ({ workspaceId }) => workspaceId,
      clock: ctx.clock,
      batches: ctx.batches,
    })
  }

  /** Whether messages may wait in the inbox that nobody holds. */
  get mayWait(): boolean {
    return this.#mayWait
  }

  /** Says that messages which nobody holds may be in the inbox. */
  added(): void {
    this.#mayWait = true
  }

  /**
   * Stores a batch: at most 500 messages and 16 MiB. Answers how many messages the batch had. With a `signal` it tries
   * again while the storage is away, until that aborts: what is held goes on within seconds of the storage's return.
   */
  async batch(signal?: AbortSignal): Promise<number> {
    const { clock } = this.#ctx
    await clock.ready()
    const taken = await this.#take(clock.now())
    if (taken.length === 0) return 0
    if (signal === undefined) await this.#storeAll(taken)
    else await this.#storeUntilBack(taken, signal)
    // The other messages are tried again when their leases end.
    return taken.length
  }

  async #take(now: number): Promise<readonly Taken[]> {
    this.#mayWait = false // what is put from now on may be beyond this take
    let taken: readonly Taken[] | null = null
    try {
      const options = { limit: maxMessages, maxBytes: maxMessageBytes, leaseMs: messageLeaseMs, now }
      taken = await this.#ctx.inbox.take(options)
      return taken
    } finally {
      if (taken === null || taken.length > 0) this.#mayWait = true
    }
  }

  /**
   * Stores a message that was put as held by this process. Tries again while the storage is away, until the lease ends or `signal`
   * aborts: then the message is left to a later take.
   */
  async handle(message: Taken, signal: AbortSignal): Promise<void> {
    const { clock } = this.#ctx
    const since = clock.elapsed()
    while ((await this.#handleOnce(message, signal)) === 'away') {
      if (clock.elapsed() - since >= messageLeaseMs - againMs) break
      await clock.sleep(againMs, signal)
      if (signal.aborted) break
    }
  }

  async #handleOnce(message: Taken, signal: AbortSignal): Promise<Outcome> {
    const handling = this.#storeAndRemove(message, signal)
    this.#handling.add(handling)
    const outcome = await handling
    this.#handling.delete(handling)
    return outcome
  }

  async #storeAndRemove(message: Taken, signal: AbortSignal): Promise<Outcome> {
    const { repeating, storage } = this.#ctx
    const outcome = await this.#store(message)
    if (outcome !== 'done') return outcome
    const lingers = storage.inProcess !== true && !signal.aborted
    // A message that stays is taken when its lease has ended. The event exists by then, so nothing is stored twice.
    this.#removals
      .add(message, { lingers })
      .catch((cause: unknown) => repeating.error('stored messages could not be removed', { cause }))
    return outcome
  }

  /** Resolves when nothing that was handed over is being stored, or waits to be removed. */
  async idle(): Promise<void> {
    while (this.#handling.size > 0) await Promise.all(this.#handling)
    await this.#removals.idle()
  }

  /** Leaves what waits to be removed to the end of its lease. */
  giveUp(): void {
    this.#removals.giveUp()
  }

  async #store(message: Taken): Promise<Outcome> {
    const { log } = this.#ctx
    try {
      // The event gets the id of the message: a second consumer of the message finds the event stored.
      await this.#ingest.into(message.workspaceId, message)
      return 'done'
    } catch (cause) {
      if (cause instanceof PosthornError) {
        // The workspace was deleted, or another consumer stored the event before it died. Both need no second try.
        if (cause.code === 'unknown_workspace' || cause.code === 'unique_violation') return 'done'
        if (isRetryable(cause)) return 'away'
      }
      log.error(`message ${message.id} could not be stored, try ${message.tries}`, { cause })
      return message.tries >= maxTries ? 'bad' : 'again'
    }
  }

  /** Stores messages and lets go of those that need no other try. Answers those for which the storage was away. */
  async #storeAll(taken: readonly Taken[]): Promise<readonly Taken[]> {
    const { inbox, log } = this.#ctx
    const outcomes = await Promise.all(taken.map((message) => this.#store(message)))
    const those = (wanted: Outcome) => taken.filter((_, i) => outcomes[i] === wanted)
    const [done, bad] = [those('done'), those('bad')]
    if (done.length > 0) await inbox.done(done)
    if (bad.length > 0) {
      for (const { id } of bad) log.error(`message ${id} moved to the dead list after ${maxTries} tries`)
      await inbox.bury(bad, `could not be stored in ${maxTries} tries`)
    }
    return those('away')
  }

  /**
   * Tries again each second what could not be stored. After the lease another process may store a message too, which
   * changes nothing. But where storage serves other processes, the rest is then left to a later take.
   */
  async #storeUntilBack(taken: readonly Taken[], signal: AbortSignal): Promise<void> {
    const { clock, repeating } = this.#ctx
    const since = clock.elapsed()
    let left = taken
    while (!signal.aborted) {
      const away = await this.#storeAll(left).catch((cause: unknown) => {
        repeating.error('stored messages could not be removed; trying again', { cause })
        return left
      })
      const isThere = away.length < left.length
      if (away.length === 0 || (isThere && clock.elapsed() - since >= messageLeaseMs)) return
      left = away
      await clock.sleep(againMs, signal)
    }
  }
}
