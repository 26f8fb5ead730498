import type { EngineClock } from '../contracts/clock.ts'

/** So many requests of a workspace begin in a span of time. */
const maxInSpan = 8
const spanMs = 16

interface Tries {
  /** How many began in this span. */
  begun: number
  /** Those that begin in a later span, in their order. */
  readonly waiting: (() => void)[]
}

/**
 * How quickly requests to slow and new endpoints begin, while several workspaces deliver. Most of them open a connection, which takes
 * longer than a request: an event for a thousand new endpoints would hold up everybody else's while half of the slots connect.
 * A fake clock, which stands still, limits nothing.
 */
export class FirstTries {
  readonly #clock: Pick<EngineClock, 'system' | 'sleep'>
  readonly #isBesideOthers: (workspace: string) => boolean
  readonly #byWorkspace = new Map<string, Tries>()

  /** @param isBesideOthers whether other workspaces than this one deliver. */
  constructor(clock: Pick<EngineClock, 'system' | 'sleep'>, isBesideOthers: (workspace: string) => boolean) {
    this.#clock = clock
    this.#isBesideOthers = isBesideOthers
  }

  /** Calls `begin` when a request of a workspace may begin: at once, or after those of earlier calls. */
  begin(workspace: string, begin: () => void): void {
    let tries = this.#byWorkspace.get(workspace)
    if (tries === undefined) {
      if (!this.#clock.system || !this.#isBesideOthers(workspace)) return begin()
      if (this.#byWorkspace.size === 0) void this.#clock.sleep(spanMs).then(() => this.#nextSpan())
      this.#byWorkspace.set(workspace, (tries = { begun: 0, waiting: [] }))
    }
    if (tries.begun >= maxInSpan) return void tries.waiting.push(begin)
    tries.begun++
    begin()
  }

  #nextSpan(): void {
    for (const [workspace, tries] of this.#byWorkspace) {
      const next = tries.waiting.splice(0, maxInSpan)
      tries.begun = next.length
      if (next.length === 0) this.#byWorkspace.delete(workspace)
      for (const begin of next) begin()
    }
    if (this.#byWorkspace.size > 0) void this.#clock.sleep(spanMs).then(() => this.#nextSpan())
  }

  /** Calls all that wait. */
  flush(): void {
    for (const { waiting } of this.#byWorkspace.values()) for (const begin of waiting.splice(0)) begin()
  }
}
