import type { Context } from '../context.ts'
import { type Tenant, tenantShares } from '../core/tenants.ts'
import { PosthornError } from '../errors.ts'

/** Bytes of bodies, from the first byte that came until the request is answered: the most memory that requests take. */
const maxPendingBytes = 128 * 1024 * 1024

/** What the requests of tenants may take of this process at once. More is refused with `overloaded`. */
export class InboundShares {
  readonly #ctx: Context
  readonly #maxPending: number
  readonly #pending: ReturnType<typeof tenantShares>
  readonly #bytes = tenantShares(maxPendingBytes)
  #looking = 0

  constructor(ctx: Context) {
    this.#ctx = ctx
    this.#maxPending = ctx.settings.gateway.maxPending
    this.#pending = tenantShares(this.#maxPending)
  }

  /** Looks for the source of a request, whose tenant is not known yet. */
  async looking<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    if (this.#looking >= this.#maxPending) throw this.overloaded()
    this.#looking++
    try {
      return await work()
    } finally {
      this.#looking--
    }
  }

  /** Does work that may wait for an engine. A stalled engine fills no memory: beyond the tenant's share work is refused. */
  async waiting<Answer>(tenant: Tenant, work: () => Promise<Answer>): Promise<Answer> {
    if (!this.#pending.take(tenant, 1)) throw this.overloaded()
    try {
      return await work()
    } finally {
      this.#pending.give(tenant, 1)
    }
  }

  /** Does work that reads a body. `take` says whether so many more bytes have room; all of them are given back after the work. */
  async reading<Answer>(tenant: Tenant, work: (take: (more: number) => boolean) => Promise<Answer>): Promise<Answer> {
    let bytes = 0
    const take = (more: number): boolean => {
      const taken = this.#bytes.take(tenant, more)
      if (taken) bytes += more
      return taken
    }
    try {
      return await work(take)
    } finally {
      if (bytes > 0) this.#bytes.give(tenant, bytes)
    }
  }

  overloaded(): PosthornError {
    this.#ctx.emit('overloaded', { what: 'gateway' })
    return new PosthornError('overloaded', 'service unavailable')
  }
}
