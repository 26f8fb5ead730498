import type { EngineClock } from '../contracts/clock.ts'

/** So many requests of a workspace begin in a span of time. */
const maxInSpan = 8
const spanMs = 8

/**
 * How quickly requests to slow and new endpoints begin, while several workspaces deliver. Most of them open a connection, which takes
 * twice the time of a request: an event for a thousand new endpoints would hold up everybody else's for as long as half of the slots
 * take to connect. A clock that does not tell its turns limits nothing.
 */
export class FirstTries {
  readonly #clock: EngineClock
  readonly #isBesideOthers: (workspace: string) => boolean
  /** How many of each workspace began in this span of time. */
  readonly #begun = new Map<string, number>()
  #spanEnds: Promise<void> | null = null

  /** @param isBesideOthers whether other workspaces than this one deliver. */
  constructor(clock: EngineClock, isBesideOthers: (workspace: string) => boolean) {
    this.#clock = clock
    this.#isBesideOthers = isBesideOthers
  }

  /** Calls `begin` when a request of a workspace may begin: at once, or after those of earlier calls. */
  begin(workspace: string, begin: () => void): void {
    if (this.#isFull(workspace)) void this.#spanEnds!.then(() => this.begin(workspace, begin)) // what fills a span ends with it
    else begin()
  }

  /** Counts the request if it may begin. */
  #isFull(workspace: string): boolean {
    if (this.#clock.afterTurn === undefined || !this.#isBesideOthers(workspace)) return false
    const begun = this.#begun.get(workspace) ?? 0
    if (begun >= maxInSpan) return true
    this.#begun.set(workspace, begun + 1)
    this.#spanEnds ??= this.#clock.sleep(spanMs).then(() => this.#endSpan())
    return false
  }

  #endSpan(): void {
    this.#begun.clear()
    this.#spanEnds = null
  }
}
