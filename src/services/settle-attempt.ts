import type { Context } from '../context.ts'
import type { Claim, Job } from '../contracts/queue.ts'
import type { Settled, Settlement } from '../contracts/storage/attempts.ts'
import type { Ended } from '../core/settle.ts'
import { PosthornError } from '../errors.ts'
import type { FinalStatus } from '../schema/attempt.ts'
import { announceEnding } from './announce-ending.ts'
import { type Batcher, batcher } from '../runtime/batcher.ts'
import { jobOf } from './job-of.ts'

/** Stores what follows from a try: the end of the attempt, the next attempt, the pause of the endpoint. */
export class AttemptSettler {
  readonly #ctx: Context
  readonly #complain: (message: string, cause: unknown) => void
  readonly #settlements: Batcher<Settlement, Settled>

  constructor(ctx: Context) {
    this.#ctx = ctx
    this.#complain = (message, cause) => ctx.repeating.error(message, { cause })
    this.#settlements = batcher({
      flush: (batch) => this.#flush(batch),
      bytesOf: ({ request, response }) => 512 + (request?.body?.length ?? 0) + (response?.body?.length ?? 0),
      workspaceOf: ({ workspaceId }) => workspaceId,
      clock: ctx.clock,
      batches: ctx.batches,
      resends: ctx.resends,
    })
  }

  /** See `Deliver`. */
  settle(ended: Ended, options: { lingers: boolean }): Promise<FinalStatus | null> {
    const { settlement, pauseUntil: until } = ended
    if (until === null) return this.#store(ended, options)
    // The pause comes before the settlement, so that no other job of the endpoint is claimed in between.
    const paused = this.#ctx.queue.pause([{ group: settlement.attempt.endpoint_id, until }])
    return paused.then(() => this.#store(ended, options))
  }

  #store({ settlement, eventType }: Ended, options: { lingers: boolean }): Promise<FinalStatus | null> {
    return new Promise((resolve, reject) => {
      const told = ({ settled, disabled, refused }: Settled): void => {
        if (refused !== undefined) {
          const what = 'the storage refused the outcome of an attempt'
          return reject(new PosthornError('internal', what, { cause: refused }))
        }
        if (settled) announceEnding(this.#ctx, { settlement, eventType, disabled })
        resolve(settled ? settlement.status : null)
      }
      this.#settlements.addFor(settlement, { resolve: told, reject }, options)
    })
  }

  async #flush(batch: readonly Settlement[]): Promise<readonly Settled[]> {
    const { storage, ownQueue } = this.#ctx
    const answers = await storage.attempts.settle(batch, { enqueue: ownQueue })
    const next: Job[] = []
    const claims: Claim[] = []
    batch.forEach((settlement, i) => {
      if (settlement.next !== null && answers[i]!.settled) next.push(jobOf(settlement.workspaceId, settlement.next))
      if (!ownQueue && settlement.claim !== null && answers[i]!.refused === undefined) claims.push(settlement.claim)
    })
    if (next.length > 0) this.#ctx.enqueued(next)
    if (claims.length > 0) await this.#complete(claims)
    return answers
  }

  /**
   * After the settlement. A job that could not be completed is claimed again when the lease has ended. The attempt is
   * closed then, and nothing is sent.
   */
  async #complete(claims: readonly Claim[]): Promise<void> {
    try {
      await this.#ctx.queue.complete(claims)
    } catch (cause) {
      this.#complain('jobs of ended attempts could not be completed', cause)
    }
  }

  /** Writes the settlements that linger, and waits for all settlements. */
  idle(): Promise<void> {
    return this.#settlements.idle()
  }

  giveUp(): void {
    this.#settlements.giveUp()
  }

  waiting(): number {
    return this.#settlements.waiting()
  }
}
