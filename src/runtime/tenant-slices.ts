import type { Awaitable } from '../contracts/awaitable.ts'
import { othersTurn, type SliceClock, sliceMs } from './slices.ts'

interface Tenant {
  /** How long its work held the event loop in this turn. */
  usedMs: number
  readonly waiting: (() => void)[]
}

/**
 * Pieces of work that may be long, those of a tenant in the order in which they came. A piece is done at once, unless those of the
 * tenant held the event loop for two milliseconds in this turn: then it waits for the next turn.
 */
export class TenantSlices {
  readonly #clock: SliceClock
  readonly #tenants = new Map<string, Tenant>()

  constructor(clock: SliceClock) {
    this.#clock = clock
  }

  run<Result>(name: string, work: () => Result): Awaitable<Result> {
    const tenant = this.#tenants.get(name) ?? this.#begin(name)
    if (tenant.waiting.length === 0 && tenant.usedMs < sliceMs) return this.#timed(tenant, work)
    return new Promise((resolve, reject) => {
      tenant.waiting.push(() => {
        try {
          resolve(this.#timed(tenant, work))
        } catch (cause) {
          reject(cause)
        }
      })
    })
  }

  /** Resolves when no work waits. */
  async idle(): Promise<void> {
    while ([...this.#tenants.values()].some(({ waiting }) => waiting.length > 0)) await othersTurn(this.#clock)
  }

  #begin(name: string): Tenant {
    const tenant: Tenant = { usedMs: 0, waiting: [] }
    this.#tenants.set(name, tenant)
    void this.#serve(name, tenant)
    return tenant
  }

  /** Does what waits, turn by turn, until a turn finds nothing. */
  async #serve(name: string, tenant: Tenant): Promise<void> {
    do {
      await othersTurn(this.#clock)
      tenant.usedMs = 0
      while (tenant.usedMs < sliceMs && tenant.waiting.length > 0) tenant.waiting.shift()!()
    } while (tenant.usedMs > 0)
    this.#tenants.delete(name)
  }

  #timed<Result>(tenant: Tenant, work: () => Result): Result {
    const since = this.#clock.elapsed()
    try {
      return work()
    } finally {
      tenant.usedMs += this.#clock.elapsed() - since
    }
  }
}
