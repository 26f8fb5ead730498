import type { CompiledConfiguration, Context, Handed, HandOff } from '../context.ts'
import type { Delivery, PlannedAttempt } from '../contracts/storage/attempts.ts'
import type { Claim, Job, Lease } from '../contracts/queue.ts'
import { isHeld } from '../core/endpoint-row.ts'
import { batcher, type Batcher } from '../runtime/batcher.ts'
import { jobOf } from '../services/job-of.ts'
import type { Deliveries } from './deliveries.ts'
import { type Hold, type Holds, leaseMs, lengthenEveryMs } from './holds.ts'
import type { LetGo } from './let-go.ts'
import type { Lines } from './lines.ts'
import type { Rests } from './resting-endpoints.ts'
import type { Slots } from './slots.ts'
import { inSlices } from '../runtime/slices.ts'

interface Needs {
  readonly ctx: Context
  readonly deliveries: Deliveries
  readonly slots: Slots
  readonly lines: Lines
  readonly holds: Holds
  readonly letGo: LetGo
  readonly rests: Rests
}

/**
 * Takes attempts over from who publishes in this process. The jobs are stored as held by this worker, so nothing has to be
 * claimed or loaded. Only while slots are free that nobody else waits for, and where nothing older waits for the endpoint:
 * then no other tenant and no other delivery comes later for it. A crash leaves a lease, as after a claim.
 */
export class LocalHandOff implements HandOff {
  readonly #needs: Needs
  /** Adds jobs to a queue that is not the storage's. */
  readonly #adding: Batcher<Job, boolean>

  constructor(needs: Needs) {
    this.#needs = needs
    const { queue, clock } = needs.ctx
    this.#adding = batcher({
      async flush(jobs) {
        const held = new Set(await queue.add(jobs))
        return jobs.map(({ id }) => held.has(id))
      },
      bytesOf: () => 0,
      workspaceOf: ({ workspace }) => workspace,
      clock,
      batches: true,
    })
  }

  take(configuration: CompiledConfiguration, attempts: readonly PlannedAttempt[]): Handed | null {
    const { ctx, slots, holds, deliveries } = this.#needs
    const workspaceId = configuration.workspace.id
    if (!slots.mayTakeAtOnce(workspaceId) || deliveries.isClosed) return null
    const now = ctx.clock.now()
    const lease = { token: `${ctx.newId()}/${workspaceId}`, from: now, until: now + leaseMs }
    const taken = new Map<PlannedAttempt, Hold>()
    for (const attempt of attempts) {
      if (!this.#mayTake(configuration, attempt, now)) continue
      const claim: Claim = { ...jobOf(workspaceId, attempt), token: lease.token }
      slots.handed(claim)
      taken.set(attempt, holds.begin(claim))
    }
    if (taken.size === 0) return null
    return {
      attempts: attempts.map((attempt) => (taken.has(attempt) ? { ...attempt, lease } : attempt)),
      stored: (event, trace, held) => {
        void inSlices(ctx.clock, taken, ([attempt, hold]) => {
          const isHeld = ctx.ownQueue ? held.includes(attempt.id) : null
          void this.#begin(configuration, { event, attempt, lease, hold, trace, isHeld })
        })
      },
      notStored: (mayBe) => void this.#giveBack([...taken.values()], mayBe),
    }
  }

  queued(jobs: readonly Job[]): void {
    this.#needs.slots.backlog.added(jobs, this.#needs.ctx.clock.now())
  }

  #mayTake({ workspace, endpoints }: CompiledConfiguration, attempt: PlannedAttempt, now: number): boolean {
    const { slots, rests } = this.#needs
    const endpoint = endpoints.get(attempt.endpoint_id)
    if (endpoint === undefined || !endpoint.enabled || isHeld(endpoint) || endpoint.rate_limit !== null) return false
    if (attempt.priority !== undefined || attempt.scheduled_at > now) return false
    return !rests.has(endpoint.id) && slots.mayHand(workspace.id, endpoint.id)
  }

  async #begin(configuration: CompiledConfiguration, stored: Stored): Promise<void> {
    const { ctx, deliveries, holds, lines } = this.#needs
    const { event, attempt, lease, hold, trace } = stored
    const workspaceId = configuration.workspace.id
    const isHeld = stored.isHeld ?? (await this.#addToQueue({ ...jobOf(workspaceId, attempt), lease }))
    holds.stored(hold)
    const isFresh = ctx.clock.now() < lease.until - lengthenEveryMs // else the lease may end before it is lengthened
    if (!isHeld || !isFresh || deliveries.isClosed) return await this.#giveBack([hold], true)
    const { revision } = configuration
    const delivery = { workspaceId, revision, attempt, event, ...(trace !== undefined && { trace }) }
    const endpoint = configuration.endpoints.get(attempt.endpoint_id) ?? null
    lines.enter({ hold, loaded: { delivery, configuration, endpoint } }, true)
  }

  /** Gives up jobs that were taken over. `mayBe`: they may be in the queue. */
  async #giveBack(given: readonly Hold[], mayBe: boolean): Promise<void> {
    const { letGo } = this.#needs
    await (mayBe ? letGo.giveBack(given) : letGo.unsent(given, Promise.resolve()))
  }

  /** Adds a job to a queue that is not the storage's. Answers whether it is held. */
  async #addToQueue(job: Job): Promise<boolean> {
    try {
      return await this.#adding.add(job)
    } catch (cause) {
      // Others find the attempt in a moment: see `requeue`.
      this.#needs.ctx.repeating.error('jobs could not be handed to the queue', { cause })
      return false
    }
  }
}

interface Stored {
  readonly event: NonNullable<Delivery['event']>
  readonly attempt: PlannedAttempt
  readonly lease: Lease
  readonly hold: Hold
  readonly trace: string | undefined
  /** Whether the job is held with its lease; null where the queue was not asked yet. */
  readonly isHeld: boolean | null
}
