import type { CompiledConfiguration, Context, Handed, HandOff } from '../context.ts'
import type { Delivery, PlannedAttempt } from '../contracts/storage/attempts.ts'
import type { Claim, Job, Lease } from '../contracts/queue.ts'
import { isHeld } from '../core/endpoint-row.ts'
import { batcher, type Batcher } from '../runtime/batcher.ts'
import { jobOf } from '../services/job-of.ts'
import type { Deliveries } from './deliveries.ts'
import { claimsOf, type Hold, type Holds, leaseMs, lengthenEveryMs } from './holds.ts'
import type { LetGo } from './let-go.ts'
import type { Lines } from './lines.ts'
import type { Rests } from './resting-endpoints.ts'
import { inSlices } from '../runtime/slices.ts'
import type { Slots } from './slots.ts'
import type { Ticket, WaitingRoom } from './waiting-room.ts'

interface Needs {
  readonly ctx: Context
  readonly deliveries: Deliveries
  readonly slots: Slots
  readonly lines: Lines
  readonly holds: Holds
  readonly letGo: LetGo
  readonly rests: Rests
  readonly room: WaitingRoom
}

/** A job that was taken over. `ticket`: where it waits for a slot; null where it has one. */
interface Taken {
  readonly hold: Hold
  readonly ticket: Ticket | null
}

/**
 * Takes attempts over from who publishes in this process. The jobs are stored as held by this worker, so nothing has to be
 * claimed or loaded. Only while slots are free that nobody else waits for, or soon will be, and where nothing older waits for
 * the endpoint: then no other tenant and no other delivery comes later for it. A crash leaves a lease, as after a claim.
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

  take(configuration: CompiledConfiguration, attempts: readonly PlannedAttempt[], bytes: number): Handed | null {
    const { ctx, deliveries } = this.#needs
    if (deliveries.isClosed) return null
    const workspaceId = configuration.workspace.id
    const now = ctx.clock.now()
    const fit = attempts.filter((attempt) => this.#mayTake(configuration, attempt, now))
    if (fit.length === 0) return null
    const lease = { token: `${ctx.newId()}/${workspaceId}`, from: now, until: now + leaseMs }
    const taken = new Map<PlannedAttempt, Taken>()
    for (const attempt of fit) {
      const one = this.#takeOver({ ...jobOf(workspaceId, attempt), token: lease.token }, bytes)
      if (one !== null) taken.set(attempt, one)
    }
    if (taken.size === 0) return null
    return {
      attempts: attempts.map((attempt) => (taken.has(attempt) ? { ...attempt, lease } : attempt)),
      stored: (event, trace, held) => {
        void inSlices(ctx.clock, taken, ([attempt, one]) => {
          const isHeld = ctx.ownQueue ? held.includes(attempt.id) : null
          void this.#begin(configuration, { event, attempt, lease, taken: one, trace, isHeld })
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
    if (attempt.priority !== undefined || attempt.scheduled_at > now || rests.has(endpoint.id)) return false
    return slots.mayTakeAtOnce(workspace.id) || slots.mayWait(workspace.id, endpoint.id)
  }

  /** Gives the job a slot, or a place where it waits for one; null where there is neither. */
  #takeOver(claim: Claim, bytes: number): Taken | null {
    const { slots, holds, room } = this.#needs
    if (!room.has(claim.group) && slots.mayHand(claim.workspace, claim.group)) {
      slots.handed(claim, { isStored: false })
      return { hold: holds.begin(claim), ticket: null }
    }
    const ticket = room.letIn(claim, bytes)
    return ticket && { hold: holds.begin(claim), ticket }
  }

  async #begin(configuration: CompiledConfiguration, stored: Stored): Promise<void> {
    const { ctx, deliveries, slots, holds, lines, room } = this.#needs
    const { event, attempt, lease, trace } = stored
    const { hold, ticket } = stored.taken
    const workspaceId = configuration.workspace.id
    const isHeld = stored.isHeld ?? (await this.#addToQueue({ ...jobOf(workspaceId, attempt), lease }))
    holds.stored(hold)
    const isFresh = ctx.clock.now() < lease.until - lengthenEveryMs // else the lease may end before it is lengthened
    if (!isHeld || !isFresh || deliveries.isClosed) return await this.#giveBack([stored.taken], true)
    const { revision } = configuration
    const delivery = { workspaceId, revision, attempt, event, ...(trace !== undefined && { trace }) }
    const endpoint = configuration.endpoints.get(attempt.endpoint_id) ?? null
    const job = { hold, loaded: { delivery, configuration, endpoint } }
    if (ticket !== null) return room.enter(ticket, job)
    slots.pace.stored(hold.claim)
    lines.enter(job, true)
  }

  /** Gives up jobs that were taken over. `mayBe`: they may be in the queue. */
  async #giveBack(given: readonly Taken[], mayBe: boolean): Promise<void> {
    const { holds, letGo, room } = this.#needs
    const asked = mayBe ? holds.giveBack(claimsOf(given.map(({ hold }) => hold)), { insists: true }) : Promise.resolve()
    await letGo.unsent(
      given.flatMap(({ hold, ticket }) => (ticket === null ? hold : [])),
      asked,
    )
    for (const { hold, ticket } of given) {
      if (ticket === null) continue
      holds.remove(hold)
      room.leave(ticket)
    }
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
  readonly taken: Taken
  readonly trace: string | undefined
  /** Whether the job is held with its lease; null where the queue was not asked yet. */
  readonly isHeld: boolean | null
}
