import type { Context } from '../context.ts'
import { minuteMs } from '../core/periods.ts'
import type { Loaded } from '../services/loaded-attempt.ts'
import { seeProcess } from '../services/seen-process.ts'

/** A process that was not seen for so long works no more, or soon tells that it does. */
const awayMs = 2 * minuteMs
/** A delivery that needs a plugin which is not registered here waits so long for a process that has it: an update of all processes is over by then. */
const leftMs = 10 * minuteMs

/** Whether other processes work beside this one, as far as the storage knows. Each process tells once a minute that it works. */
export class Company {
  readonly #ctx: Context
  /** False until the storage was asked. */
  isAlone = false

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  /** Whether another process may yet make an attempt that this one cannot make. */
  mayTake({ delivery: { attempt } }: Loaded): boolean {
    return !this.isAlone && this.#ctx.clock.now() - attempt.scheduled_at < leftMs
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
