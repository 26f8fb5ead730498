import type { Context } from '../context.ts'
import type { Claim } from '../contracts/queue.ts'
import { InTurns, type Waits } from '../core/in-turns.ts'
import { type Tenant, tenantShares } from '../core/tenants.ts'
import { inSlices } from '../runtime/slices.ts'
import { startTimer } from '../runtime/timer.ts'
import { claimsOf, type Holds } from './holds.ts'
import type { Lines } from './lines.ts'
import { countsForMs } from './pace.ts'
import type { ReadyJob } from './ready-job.ts'
import type { Rests } from './resting-endpoints.ts'
import { fallenDueMs, type Slots } from './slots.ts'
import type { Wakeup } from './wakeup.ts'

/** As many jobs are let in as are likely to begin in this time: while no other process works, and beside others. */
const likelyAloneMs = 4000
const likelyBesideMs = 250
/** What waits so many times as long goes back to the queue. */
const patience = 2
/** How often it is looked for what waits too long. */
const lookEveryMs = 250
/** What waits here may have so many bytes, about. */
const maxBytes = 64 * 1024 * 1024
/** More endpoints do not wait here: each claim is told to leave them out. */
const maxGroups = 2000
/** What a job takes beside the data of its event. */
const bytesOfJob = 1024

/** A job of the room, from the moment that it is let in. */
export interface Ticket {
  readonly claim: Claim
  /** How long its request is likely to take. */
  readonly ms: number
  /** What it takes of the room's time and bytes. */
  readonly time: number
  readonly bytes: number
  /** Null while the job is being stored. */
  job: ReadyJob | null
  readonly since: number
  next: Ticket | null
}

/** The jobs of an endpoint that wait here, or are being stored. */
interface Group extends Waits {
  readonly id: string
  readonly workspace: string
  /** Since when jobs of the endpoint have been here without a break. */
  readonly since: number
  /** How many were let in and have not left, and how long their requests are likely to take together. */
  tickets: number
  ms: number
  /** Those that wait, linked in their order. */
  first: Ticket | null
  last: Ticket | null
  /** A claim left the endpoint out. */
  isLeftOut: boolean
}

interface Needs {
  readonly ctx: Context
  readonly slots: Slots
  readonly lines: Lines
  readonly holds: Holds
  readonly rests: Rests
  /** Wakes the loop that claims. */
  readonly wakeup: Wakeup
  /** Whether no other process works: others might have free slots for what waits here. */
  readonly isAlone: () => boolean
}

/**
 * Where jobs that this process stored as held wait for a slot, so that a burst needs no claims. They begin as slots fall free,
 * the workspaces in turns, each within its share of the slots, after what waits in the queue. Only what is likely to begin
 * soon is let in, and only where nothing of the endpoint waits in the queue; claims leave the endpoint out until its jobs have
 * begun. So the jobs of an endpoint begin in their order. An endpoint whose jobs have been here for long gets no more in:
 * what fell due in the queue has its turn then.
 */
export class WaitingRoom {
  readonly #needs: Needs
  readonly #groups = new Map<string, Group>()
  /** Groups that may have a slot for their next job. */
  readonly #ready = new InTurns<Group>()
  readonly #time: ReturnType<typeof tenantShares>
  readonly #bytes = tenantShares(maxBytes)
  #stopLooking: (() => void) | null = null
  #stopPause: (() => void) | null = null

  constructor(needs: Needs) {
    this.#needs = needs
    this.#time = tenantShares(needs.ctx.settings.deliver.concurrency * likelyAloneMs)
    needs.slots.attach(this)
  }

  /** Whether jobs wait here, or are being stored. */
  get isUsed(): boolean {
    return this.#groups.size > 0
  }

  /** Whether jobs of an endpoint wait here, or are being stored: newer ones come behind. */
  has(group: string): boolean {
    return this.#groups.has(group)
  }

  /** Endpoints that the claim that begins now leaves out. */
  *leftOut(): Generator<string, void> {
    for (const group of this.#groups.values()) {
      group.isLeftOut = true
      yield group.id
    }
  }

  /** Lets a job in that is about to be stored as held; null where it does not fit. `bytes`: those of the event. */
  letIn(claim: Claim, bytes: number): Ticket | null {
    const { ctx, slots, lines } = this.#needs
    const { workspace, group: id } = claim
    const ms = lines.usuallyTakesMs(id)
    if (ms === null || !slots.mayWait(workspace, id)) return null
    if (ctx.storage.inProcess === true && !slots.pace.isBesideOthers(workspace)) return null // claims cost little there
    const forMs = this.#likelyMs()
    const now = ctx.clock.elapsed()
    let group = this.#groups.get(id)
    const isOpen = group === undefined ? this.#groups.size < maxGroups : now - group.since < forMs
    if (!isOpen || (group?.ms ?? 0) >= ctx.settings.deliver.perEndpoint * forMs) return null
    const time = Math.ceil((ms * likelyAloneMs) / forMs)
    if (!this.#take({ workspace, owner: id }, time, bytes + bytesOfJob)) return null
    if (group === undefined) {
      group = { id, workspace, since: now, tickets: 0, ms: 0, first: null, last: null, isLeftOut: false }
      this.#groups.set(id, group)
    }
    group.tickets++
    group.ms += ms
    return { claim, ms, time, bytes: bytes + bytesOfJob, job: null, since: now, next: null }
  }

  #likelyMs(): number {
    return this.#needs.isAlone() ? likelyAloneMs : likelyBesideMs
  }

  #take(tenant: Tenant, time: number, bytes: number): boolean {
    if (!this.#time.take(tenant, time)) return false
    if (this.#bytes.take(tenant, bytes)) return true
    this.#time.give(tenant, time)
    return false
  }

  /** The job is stored, and held. */
  enter(ticket: Ticket, job: ReadyJob): void {
    const group = this.#groups.get(ticket.claim.group)! // the ticket keeps it
    ticket.job = job
    if (group.last === null) group.first = ticket
    else group.last.next = ticket
    group.last = ticket
    this.#stopLooking ??= startTimer(this.#needs.ctx.clock, lookEveryMs, () => this.#look())
    if (group.line === undefined) this.#ready.add(group)
    this.#next(false)
  }

  /** The job has a slot now, or comes to none in this process. */
  leave({ claim, ms, time, bytes }: Ticket): void {
    const { slots, wakeup } = this.#needs
    const { workspace, group: id } = claim
    const tenant = { workspace, owner: id }
    this.#time.give(tenant, time)
    this.#bytes.give(tenant, bytes)
    const group = this.#groups.get(id)! // the ticket keeps it
    group.ms -= ms
    if (--group.tickets > 0) return
    this.#ready.remove(group)
    this.#groups.delete(id)
    const waiting = slots.backlog.of(id, workspace)
    if (waiting > 0 && waiting < Infinity) wakeup.wake('limited')
    // Nobody knows whether a claim passed jobs of the endpoint: one is made for all endpoints that leave in this time.
    else if (waiting > 0 || group.isLeftOut) wakeup.wakeIn(fallenDueMs, 'limited')
  }

  /** Gives back what waits. */
  clear(): void {
    this.#stopLooking?.()
    this.#stopPause?.()
    this.#stopLooking = this.#stopPause = null
    for (const group of this.#groups.values()) void this.#giveBack(group)
  }

  /** A slot is free: one of this endpoint, or, with null, nobody knows of which. */
  freed(id: string | null): void {
    if (this.#groups.size === 0) return
    const group = id === null ? undefined : this.#groups.get(id)
    if (group !== undefined && group.first !== null && group.line === undefined) this.#ready.add(group)
    if (this.#ready.size > 0) this.#next(false)
  }

  /** A claim had its turn: what waits here comes after it. */
  claimed(): void {
    if (this.#ready.size > 0) this.#next(true)
  }

  /** Begins jobs while there are slots for them. `afterClaim`: what waits in the queue had its turn. */
  #next(afterClaim: boolean): void {
    const { slots } = this.#needs
    for (;;) {
      const group = this.#ready.nextOf((workspace) => slots.mayBegin(workspace!, afterClaim)) // groups have a workspace
      if (group === undefined) break
      if (slots.hasSlotOf(group.id)) this.#begin(group, group.first!) // else until a slot of the endpoint is free
    }
    // What waits for requests to end may be waiting for some that do not.
    if (this.#ready.size > 0)
      this.#stopPause ??= startTimer(this.#needs.ctx.clock, countsForMs, () => this.#afterPause())
  }

  #afterPause(): void {
    this.#stopPause = null
    if (this.#ready.size > 0) this.#next(false)
  }

  #begin(group: Group, ticket: Ticket): void {
    const { ctx, slots, lines, holds, rests } = this.#needs
    const job = ticket.job! // it waits
    const { workspace, revision } = job.loaded.configuration
    // What was loaded under a configuration that moved on is given back, to be loaded again.
    const isFresh = ctx.configuration.held(workspace.id)?.revision === revision && holds.has(job.hold)
    if (!isFresh || rests.has(group.id) || !slots.isProven(group.id)) return void this.#giveBack(group)
    group.first = ticket.next
    if (group.first === null) group.last = null
    else this.#ready.add(group)
    slots.handed(ticket.claim, { isStored: true })
    this.leave(ticket)
    lines.enter(job, true)
  }

  /** What waits of an endpoint goes back to the queue. */
  async #giveBack(group: Group): Promise<void> {
    const { ctx, slots, holds, wakeup } = this.#needs
    const tickets: Ticket[] = []
    for (let ticket = group.first; ticket !== null; ticket = ticket.next) tickets.push(ticket)
    if (tickets.length === 0) return
    group.first = group.last = null
    this.#ready.remove(group)
    const given = tickets.map(({ job }) => job!.hold) // they waited
    const claims = claimsOf(given)
    slots.backlog.added(claims, ctx.clock.now()) // newer jobs come behind these
    await holds.giveBack(claims, { triesAgain: true })
    for (const hold of given) holds.remove(hold)
    for (const ticket of tickets) this.leave(ticket)
    wakeup.wake('added')
  }

  /** Gives back what has waited too long. */
  #look(): void {
    const { clock } = this.#needs.ctx
    const since = clock.elapsed() - patience * this.#likelyMs()
    const late = [...this.#groups.values()].filter(({ first }) => first !== null && first.since <= since)
    this.#stopLooking = this.#groups.size === 0 ? null : startTimer(clock, lookEveryMs, () => this.#look())
    void inSlices(clock, late, (group) => void this.#giveBack(group))
  }
}
