import type { Context } from '../context.ts'
import { minuteMs } from '../core/periods.ts'
import { seeProcess } from '../services/seen-process.ts'

/** A process that was not seen for so long works no more, or soon tells that it does. */
const awayMs = 2 * minuteMs

/** Whether other processes work beside this one, as far as the storage knows. Each process tells once a minute that it works. */
export class Company {
  readonly #ctx: Context
  /** False until the storage was asked. */
  isAlone = false

  constructor(ctx: Context) {
    this.#ctx = ctx
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
