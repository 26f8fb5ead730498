import type { EngineClock } from '../contracts/clock.ts'
import type { Claim } from '../contracts/queue.ts'

/** The most quick requests of a workspace that are in flight at once, while others deliver too. */
const maxInFlight = 24
/** A request is quick that takes this long or less. One that takes twice as long counts half, and so on. */
const quickMs = 4
/** A request in flight for longer counts no more: its endpoint is not as quick as it was. */
export const countsForMs = 50
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
 * else's for tens of milliseconds. It is no slower with a few, where its endpoints are quick.
 */
export class Pace {
  readonly #clock: EngineClock
  readonly #usuallyTakesMs: (group: string) => number | null
  readonly #byWorkspace = new Map<string, Requests>()
  /** The workspace that had the last slot, when that was, and when another one had the last before. */
  #lastWorkspace = ''
  #lastAt = -Infinity
  #lastOtherAt = -Infinity

  /** @param usuallyTakesMs how long requests to an endpoint take; null where nobody knows. */
  constructor(clock: EngineClock, usuallyTakesMs: (group: string) => number | null) {
    this.#clock = clock
    this.#usuallyTakesMs = usuallyTakesMs
  }

  /** Whether one more request of a workspace may begin now. */
  allows(workspace: string): boolean {
    const requests = this.#byWorkspace.get(workspace)
    if (requests === undefined || requests.weight < maxInFlight || !this.isBesideOthers(workspace)) return true
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
    const weight = Math.min(quickMs / (this.#usuallyTakesMs(group) ?? quickMs), 1)
    const request = { weight, at: isStored ? this.#clock.elapsed() : Infinity }
    const requests = this.#byWorkspace.get(workspace)
    if (requests === undefined) this.#byWorkspace.set(workspace, { weight, byJob: new Map([[id, request]]) })
    else {
      requests.weight += weight
      requests.byJob.set(id, request)
    }
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
