/** A lease that an engine may have given, and whose answer did not come. */
export interface LostLease {
  readonly token: string
  /** Unix ms: the end of the lease. */
  readonly until: number
}

/**
 * Leases whose answer did not come. The engine may have given them all the same; or it does so later, when what was sent
 * arrives. Nobody works on what is held under such a token, so it may be given back at any time. That is asked for again
 * and again until the lease ends.
 */
export class LostLeases {
  readonly #ends = new Map<string, number>()
  readonly #everyMs: number
  #askedAt = -Infinity

  /** @param everyMs how often the engine may be asked to give back. */
  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  add({ token, until }: LostLease): void {
    this.#ends.set(token, until)
    this.#askedAt = -Infinity
  }

  /** The leases to be given back now. Those that ended by `now` are forgotten. */
  due(now: number): readonly LostLease[] {
    if (this.#ends.size === 0 || Math.abs(now - this.#askedAt) < this.#everyMs) return []
    this.#askedAt = now
    for (const [token, until] of this.#ends) if (until <= now) this.#ends.delete(token)
    return Array.from(this.#ends, ([token, until]) => ({ token, until }))
  }
}
