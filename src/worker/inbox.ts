import type { Context } from '../context.ts'
import type { Taken } from '../contracts/inbox.ts'
import { isRetryable, PosthornError } from '../errors.ts'
import { type Batcher, batcher } from '../runtime/batcher.ts'
import type { Ingest } from '../services/ingest.ts'
import { InHand, type Room } from './in-hand.ts'

/** No message begins to be stored when less than this is left of its lease: it may be taken again meanwhile. */
export const minLeaseMs = 10_000
export const messageLeaseMs = 30_000
/** Messages of a workspace that are stored side by side until they are seen to be stored quickly. */
const fewBeside = 100
const quickMs = 1000
const maxTries = 5
const againMs = 1000

/** How a take is stored: `freed` is called when there is room for another. */
interface Storing {
  readonly signal: AbortSignal
  freed(): void
}

/** `away`: the storage does not answer. `again`: a later take tries again. */
type Outcome = 'done' | 'away' | 'again' | 'bad'

/** Stores what async sources accepted. */
export class InboxConsumer {
  readonly #ctx: Context
  readonly #ingest: Ingest
  /** Removes messages that are stored, and gives back others, several in a call. */
  readonly #removals: Batcher<Taken, null>
  readonly #releases: Batcher<Taken, null>
  readonly #inHand = new InHand()
  /** Shares and messages under way that do not wait for the storage, and who waits until there are none. */
  #working = 0
  readonly #idlers: (() => void)[] = []
  #pausing: Promise<void> | null = null
  #mayWait = true

  constructor(ctx: Context, ingest: Ingest) {
    this.#ctx = ctx
    this.#ingest = ingest
    this.#removals = together(ctx, (messages) => ctx.inbox.done(messages))
    this.#releases = together(ctx, async (messages) => await ctx.inbox.release?.(messages))
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
   * Takes messages, as many as there is room for, and begins to store them. Answers how many it took; `idle` waits until they are
   * stored. With `storing` it tries again while the storage is away, until the signal aborts: what is held goes on
   * within seconds of the storage's return.
   */
  async take(storing?: Storing): Promise<number> {
    await this.#ctx.clock.ready()
    const room = this.#inHand.room()
    if (room === null) return 0
    const since = this.#ctx.clock.elapsed()
    const taken = await this.#take(room)
    for (const share of this.#inHand.add(taken)) void this.#follow(this.#storeShare(share, since, storing))
    return taken.length
  }

  async #take(room: Room): Promise<readonly Taken[]> {
    this.#mayWait = false // what is put from now on may be beyond this take
    let taken: readonly Taken[] | null = null
    try {
      taken = await this.#ctx.inbox.take({ ...room, leaseMs: messageLeaseMs, now: this.#ctx.clock.now() })
      return taken
    } finally {
      if (taken === null || taken.length > 0 || room.leaveOut.size > 0) this.#mayWait = true
    }
  }

  /**
   * Stores the messages of a workspace: some, and where that was quick all others. Gives back what there is no time for.
   * `since`: when their leases began.
   */
  async #storeShare(share: readonly Taken[], since: number, storing?: Storing): Promise<void> {
    const { clock } = this.#ctx
    let left = share
    let beside = fewBeside
    while (left.length > 0) {
      const begunAt = clock.elapsed()
      const some = left.slice(0, beside)
      const unstored = await this.#storeUntilBack(some, since, storing?.signal)
      left = left.slice(some.length)
      const wasFull = this.#inHand.room() === null
      this.#inHand.remove(some)
      if (this.#isOver(since, storing) || unstored.length > 0) {
        // Without a loop the storage is left alone while it is away: a take would find at once what is given back.
        if (storing !== undefined || unstored.length === 0) await this.#release(unstored.concat(left))
        this.#inHand.remove(left)
        left = []
      }
      if (left.length === 0 || wasFull) storing?.freed()
      beside = clock.elapsed() - begunAt < quickMs ? left.length : fewBeside
    }
  }

  /** Whether no other messages of a take may begin to be stored. */
  #isOver(since: number, storing?: Storing): boolean {
    const isLate = this.#ctx.clock.elapsed() - since >= messageLeaseMs - minLeaseMs
    return isLate || storing?.signal.aborted === true
  }

  async #release(messages: readonly Taken[]): Promise<void> {
    this.#mayWait = true
    try {
      await Promise.all(messages.map((message) => this.#releases.add(message)))
    } catch (cause) {
      this.#ctx.repeating.error('messages could not be given back', { cause }) // their holds lapse
    }
  }

  /**
   * Stores a message that was put as held by this process. Tries again while the storage is away, until the lease ends or `signal`
   * aborts: then the message is given back.
   */
  handle(message: Taken, signal: AbortSignal): Promise<void> {
    return this.#follow(this.#handleUntilBack(message, signal))
  }

  async #handleUntilBack(message: Taken, signal: AbortSignal): Promise<void> {
    const { clock } = this.#ctx
    const since = clock.elapsed()
    while ((await this.#storeAndRemove(message, signal)) === 'away') {
      const isOver = clock.elapsed() - since >= messageLeaseMs - againMs
      if (!isOver && !signal.aborted) await this.#pause(signal)
      if (isOver || signal.aborted) return await this.#release([message])
    }
  }

  /** All for which the storage is away wait together, at most a second: they try again in one batch. */
  async #pause(signal: AbortSignal): Promise<void> {
    this.#rest()
    await (this.#pausing ??= this.#ctx.clock.sleep(againMs, signal).finally(() => (this.#pausing = null)))
    this.#working++
  }

  async #follow(handling: Promise<void>): Promise<void> {
    this.#working++
    await handling
    this.#rest()
  }

  #rest(): void {
    if (--this.#working > 0) return
    for (const wake of this.#idlers.splice(0)) wake()
  }

  async #storeAndRemove(message: Taken, signal?: AbortSignal): Promise<Outcome> {
    const { repeating, storage } = this.#ctx
    const outcome = await this.#store(message)
    if (outcome !== 'done') return outcome
    const lingers = storage.inProcess !== true && signal?.aborted === false
    // A message that stays is taken when its lease has ended. The event exists by then, so nothing is stored twice.
    this.#removals
      .add(message, { lingers })
      .catch((cause: unknown) => repeating.error('stored messages could not be removed', { cause }))
    return outcome
  }

  /** Resolves when nothing is being stored, or waits to be removed or given back. What waits for the storage is not waited for. */
  async idle(): Promise<void> {
    if (this.#working > 0) await new Promise<void>((resolve) => this.#idlers.push(resolve))
    await Promise.all([this.#removals.idle(), this.#releases.idle()])
  }

  /** Leaves what waits to be removed or given back to the end of its lease. */
  giveUp(): void {
    this.#removals.giveUp()
    this.#releases.giveUp()
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
  async #storeAll(taken: readonly Taken[], signal?: AbortSignal): Promise<readonly Taken[]> {
    const outcomes = await Promise.all(taken.map((message) => this.#storeAndRemove(message, signal)))
    const those = (wanted: Outcome) => taken.filter((_, i) => outcomes[i] === wanted)
    await this.#bury(those('bad'))
    return those('away')
  }

  async #bury(bad: readonly Taken[]): Promise<void> {
    const { inbox, log, repeating } = this.#ctx
    if (bad.length === 0) return
    try {
      await inbox.bury(bad, `could not be stored in ${maxTries} tries`)
      for (const { id } of bad) log.error(`message ${id} moved to the dead list after ${maxTries} tries`)
    } catch (cause) {
      repeating.error('messages could not be moved to the dead list', { cause }) // a later take tries again
    }
  }

  /**
   * Tries again each second what could not be stored, until `signal` aborts. Once the lease is nearly over another process may
   * take a message too, which changes nothing; but where storage serves other processes, the rest is then left to a later
   * take. Answers what was not stored.
   */
  async #storeUntilBack(taken: readonly Taken[], since: number, signal?: AbortSignal): Promise<readonly Taken[]> {
    let left = taken
    for (;;) {
      const away = await this.#storeAll(left, signal)
      const isThere = away.length < left.length
      left = away
      if (left.length === 0 || signal === undefined || (isThere && this.#isOver(since))) return left
      if (!signal.aborted) await this.#pause(signal)
      if (signal.aborted) return left
    }
  }
}

/** Lets go of messages in batches. */
function together(ctx: Context, letGo: (messages: readonly Taken[]) => Promise<void>): Batcher<Taken, null> {
  return batcher({
    async flush(messages) {
      await letGo(messages)
      return messages.map(() => null)
    },
    bytesOf: () => 0,
    workspaceOf: ({ workspaceId }) => workspaceId,
    clock: ctx.clock,
    batches: ctx.batches,
  })
}
