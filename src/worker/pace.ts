import type { EngineClock } from '../contracts/clock.ts'
import type { Claim } from '../contracts/queue.ts'

/** The most quick requests of a workspace that are in flight at once, while others deliver too. */
const maxInFlight = 12
/** The most that begin in a turn of the event loop. */
const maxInTurn = 8
/** A request is quick that takes this long or less. One that takes twice as long counts half, and so on. */
const quickMs = 2
/** A request in flight for longer counts no more: its endpoint is not as quick as it was. */
export const countsForMs = 20
/** Others deliver where another workspace had a request in this time. */
const besideMs = 1000

interface Request {
  readonly weight: number
  /** When it began; Infinity while its job is being stored. */
  at: number
}

interface Requests {
  weight: number
  readonly byJob: Map<string, Request>
}

/**
 * How many jobs begin that need no claim, while several workspaces deliver. Answers that come at once come together, and
 * their requests began together: a burst of one workspace, with as many requests in flight as it has slots, would hold up everybody
 * else's for tens of milliseconds. It is hardly slower with a few, where its endpoints are quick.
 */
export class Pace {
  readonly #clock: EngineClock
  readonly #leastMs: (group: string) => number | null
  readonly #turnEnded: () => void
  readonly #byWorkspace = new Map<string, Requests>()
  /** The workspace that had the last slot, when that was, and when another one had the last before. */
  #lastWorkspace = ''
  #lastAt = -Infinity
  #lastOtherAt = -Infinity
  /** How many requests of each workspace began in this turn of the event loop, and whether one more was not allowed. */
  readonly #inTurn = new Map<string, number>()
  #isAwaited = false

  /**
   * @param leastMs the least time that a request to an endpoint took lately; null where nobody knows.
   * @param turnEnded called when more may begin, since a turn of the event loop has ended. Where the clock does not tell its
   *   turns, they limit nothing.
   */
  constructor(clock: EngineClock, leastMs: (group: string) => number | null, turnEnded: () => void) {
    this.#clock = clock
    this.#leastMs = leastMs
    this.#turnEnded = turnEnded
  }

  /** Whether one more request of a workspace may begin now. */
  allows(workspace: string): boolean {
    const requests = this.#byWorkspace.get(workspace)
    const isTurnFull = (this.#inTurn.get(workspace) ?? 0) >= maxInTurn
    const isFull = requests !== undefined && requests.weight >= maxInFlight
    if ((!isTurnFull && !isFull) || !this.isBesideOthers(workspace)) return true
    if (isTurnFull) this.#isAwaited = true
    return !isTurnFull && (requests === undefined || this.#hasRoom(requests))
  }

  /** Whether fewer are in flight than may be, of those that count still. */
  #hasRoom(requests: Requests): boolean {
    const since = this.#clock.elapsed() - countsForMs
    for (const [id, { at, weight }] of requests.byJob) {
      if (at === Infinity) continue
      if (at > since) break // those behind began later
      requests.byJob.delete(id)
      requests.weight -= weight
    }
    return requests.weight < maxInFlight
  }

  /** Whether other workspaces than this one deliver. */
  isBesideOthers(workspace: string): boolean {
    const at = this.#lastWorkspace === workspace ? this.#lastOtherAt : this.#lastAt
    return this.#clock.elapsed() - at < besideMs
  }

  /** A workspace got a slot. */
  sees(workspace: string): void {
    if (this.#lastWorkspace !== workspace) this.#lastOtherAt = this.#lastAt
    this.#lastWorkspace = workspace
    this.#lastAt = this.#clock.elapsed()
  }

  /** A job got a slot. `isStored`: its request begins now; else when `stored` is called. */
  begins({ workspace, group, id }: Claim, isStored: boolean): void {
    this.#countInTurn(workspace)
    const weight = Math.min(quickMs / (this.#leastMs(group) ?? quickMs), 1)
    const request = { weight, at: isStored ? this.#clock.elapsed() : Infinity }
    const requests = this.#byWorkspace.get(workspace)
    if (requests === undefined) this.#byWorkspace.set(workspace, { weight, byJob: new Map([[id, request]]) })
    else {
      requests.weight += weight
      requests.byJob.set(id, request)
    }
  }

  #countInTurn(workspace: string): void {
    if (this.#clock.afterTurn === undefined || !this.isBesideOthers(workspace)) return
    if (this.#inTurn.size === 0) this.#clock.afterTurn(this.#endTurn)
    this.#inTurn.set(workspace, (this.#inTurn.get(workspace) ?? 0) + 1)
  }

  readonly #endTurn = (): void => {
    this.#inTurn.clear()
    if (!this.#isAwaited) return
    this.#isAwaited = false
    this.#turnEnded()
  }

  /** The job of a request is stored, so that the request begins now. */
  stored({ workspace, id }: Claim): void {
    const requests = this.#byWorkspace.get(workspace)
    const request = requests?.byJob.get(id)
    if (requests === undefined || request === undefined) return
    requests.byJob.delete(id) // those that began later stand behind
    request.at = this.#clock.elapsed()
    requests.byJob.set(id, request)
  }

  /** A request ended, or is not made. */
  ended({ workspace, id }: Claim): void {
    const requests = this.#byWorkspace.get(workspace)
    const request = requests?.byJob.get(id)
    if (requests === undefined || request === undefined) return
    requests.byJob.delete(id)
    requests.weight -= request.weight
    if (requests.byJob.size === 0) this.#byWorkspace.delete(workspace)
  }
}
