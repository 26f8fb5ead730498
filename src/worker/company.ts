import type { Context } from '../context.ts'
import { hourMs, minuteMs } from '../core/periods.ts'
import type { Loaded } from '../services/loaded-attempt.ts'
import { seeProcess } from '../services/seen-process.ts'

/** A process that was not seen for so long works no more, or soon tells that it does. */
const awayMs = 2 * minuteMs
/**
 * Deliveries of an endpoint that need a plugin which is not registered here are left to others for so long: by then an update
 * of all processes is over. After an hour without any it begins anew.
 */
const leftMs = 10 * minuteMs
const maxLeft = 2000

/** Whether other processes work beside this one, as far as the storage knows. Each process tells once a minute that it works. */
export class Company {
  readonly #ctx: Context
  /** False until the storage was asked. */
  isAlone = false
  /** Since when deliveries of endpoints are left to others, and when the last one was, on the clock's `elapsed`; the oldest first. */
  readonly #left = new Map<string, { readonly since: number; readonly last: number }>()

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  /** Whether an attempt is left to other processes, as this one lacks a plugin for it. */
  mayTake({ delivery: { attempt } }: Loaded): boolean {
    if (this.isAlone) return false
    const now = this.#ctx.clock.elapsed()
    const known = this.#left.get(attempt.endpoint_id)
    const since = known !== undefined && now - known.last < hourMs ? known.since : now
    this.#left.delete(attempt.endpoint_id)
    this.#left.set(attempt.endpoint_id, { since, last: now })
    const [oldest] = this.#left.keys()
    if (this.#left.size > maxLeft) this.#left.delete(oldest!)
    return now - since < leftMs
  }

  /** Tells that this process works, and asks for the others. */
  async see(): Promise<void> {
    const { clock, storage, thisProcess } = this.#ctx
    await seeProcess(this.#ctx)
    const seen = await storage.processes.list(clock.now() - awayMs)
    const own = thisProcess().id
    this.isAlone = seen.every(({ id }) => id === own)
  }
}
