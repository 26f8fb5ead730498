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

type Leased = PlannedAttempt & { readonly lease: Lease }

/** An attempt that was taken over. `ticket`: where it waits for a slot; null where it has one. */
interface Taken {
  readonly attempt: Leased
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
  #lastLease: { readonly workspace: string; readonly lease: Lease } | null = null

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
    const taken: Taken[] = []
    const planned = attempts.map((attempt) => {
      if (!this.#mayTake(configuration, attempt, now)) return attempt
      const one = this.#takeOver(workspaceId, leased(attempt, this.#leaseOf(workspaceId, now)), bytes)
      if (one === null) return attempt
      taken.push(one)
      return one.attempt
    })
    if (taken.length === 0) return null
    return {
      attempts: planned,
      stored: (event, trace, held) => {
        const about = { configuration, event, trace }
        const isHeld = held.length > 1 ? new Set(held) : null // for a thousand endpoints a list is searched for long
        const begin = (one: Taken): void => {
          const { id } = one.attempt
          if (ctx.ownQueue) this.#begin(about, one, isHeld?.has(id) ?? held[0] === id)
          else void this.#addToQueue(one).then((isHeld) => this.#begin(about, one, isHeld))
        }
        if (taken.length === 1) begin(taken[0]!) // it is the only one
        else void inSlices(ctx.clock, taken, begin)
      },
      notStored: (mayBe) => void this.#giveBack(taken, mayBe),
    }
  }

  queued(jobs: readonly Job[]): void {
    this.#needs.slots.queued(jobs, this.#needs.ctx.clock.now())
  }

  /** The jobs of a workspace that are taken over in the same millisecond have their lease together. */
  #leaseOf(workspace: string, now: number): Lease {
    const last = this.#lastLease
    if (last !== null && last.workspace === workspace && last.lease.from === now) return last.lease
    const lease = { token: `${this.#needs.ctx.newId()}/${workspace}`, from: now, until: now + leaseMs }
    this.#lastLease = { workspace, lease }
    return lease
  }

  #mayTake({ workspace, endpoints }: CompiledConfiguration, attempt: PlannedAttempt, now: number): boolean {
    const { slots, rests } = this.#needs
    const endpoint = endpoints.get(attempt.endpoint_id)
    if (endpoint === undefined || !endpoint.enabled || isHeld(endpoint) || endpoint.rate_limit !== null) return false
    if (attempt.priority !== undefined || attempt.scheduled_at > now || rests.has(endpoint.id)) return false
    return slots.mayTakeAtOnce(workspace.id) || slots.mayWait(workspace.id, endpoint.id)
  }

  /** Gives the job a slot, or a place where it waits for one; null where there is neither. */
  #takeOver(workspace: string, attempt: Leased, bytes: number): Taken | null {
    const { slots, holds, room } = this.#needs
    const { id, endpoint_id: group, scheduled_at: due_at, lease } = attempt
    const claim: Claim = { id, workspace, group, due_at, token: lease.token }
    if (!room.has(claim.group) && slots.mayHand(claim.workspace, claim.group)) {
      slots.handed(claim, { isStored: false })
      return { attempt, hold: holds.begin(claim), ticket: null }
    }
    const ticket = room.letIn(claim, bytes)
    if (ticket !== null) return { attempt, hold: holds.begin(claim), ticket }
    slots.expect(claim) // the claim for what is not taken over may begin before `queued`
    return null
  }

  #begin({ configuration, event, trace }: Stored, taken: Taken, isHeld: boolean): void {
    const { ctx, deliveries, slots, holds, lines, room } = this.#needs
    const { attempt, hold, ticket } = taken
    holds.stored(hold)
    const isFresh = ctx.clock.now() < attempt.lease.until - lengthenEveryMs // else the lease may end before it is lengthened
    if (!isHeld || !isFresh || deliveries.isClosed) return void this.#giveBack([taken], true)
    const { workspace, revision } = configuration
    const plain = { workspaceId: workspace.id, revision, attempt, event }
    const delivery = trace === undefined ? plain : { ...plain, trace }
    const endpoint = configuration.endpoints.get(attempt.endpoint_id) ?? null
    const job = { hold, loaded: { delivery, configuration, endpoint } }
    if (ticket !== null) return room.enter(ticket, job)
    slots.pace.stored(hold.claim)
    lines.enter(job, true)
  }

  /** Gives up jobs that were taken over. `mayBe`: they may be in the queue. */
  async #giveBack(given: readonly Taken[], mayBe: boolean): Promise<void> {
    const { holds, letGo, room } = this.#needs
    const asked = mayBe
      ? holds.giveBack(claimsOf(given.map(({ hold }) => hold)), { triesAgain: true })
      : Promise.resolve()
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
  async #addToQueue({ attempt, hold }: Taken): Promise<boolean> {
    try {
      return await this.#adding.add({ ...jobOf(hold.claim.workspace, attempt), lease: attempt.lease })
    } catch (cause) {
      // Others find the attempt in a moment: see `requeue`.
      this.#needs.ctx.repeating.error('jobs could not be handed to the queue', { cause })
      return false
    }
  }
}

/** What attempts that were stored have in common. */
interface Stored {
  readonly configuration: CompiledConfiguration
  readonly event: NonNullable<Delivery['event']>
  readonly trace: string | undefined
}

/** The attempt as it is stored. It has no priority: none such is taken over. V8 takes twenty times as long to add a key to a spread. */
function leased(attempt: PlannedAttempt, lease: Lease): Leased {
  const { id, event_id, endpoint_id, attempt_number, scheduled_at, trigger_mode, created_at } = attempt
  return { id, event_id, endpoint_id, attempt_number, scheduled_at, trigger_mode, created_at, lease }
}
