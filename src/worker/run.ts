import { Cancellation } from '../core/cancellation.ts'
import { PosthornError } from '../errors.ts'
import { engineParts } from '../services/engine-parts.ts'
import { type Parts, runLoops } from './loops.ts'
import { LocalHandOff } from './hand-off.ts'
import { LocalMessageHandOff } from './inbox-hand-off.ts'
import { wakeup, type Wakeup } from './wakeup.ts'
import type { Needs } from './needs.ts'

/** What a start opens and the next stop closes: listeners and loops. */
export class Run {
  readonly #needs: Needs
  readonly #parts: Parts
  readonly #over = new Cancellation()
  readonly #listeners: (() => Promise<void>)[] = []
  #loops: Promise<unknown> = Promise.resolve()

  constructor(needs: Needs, parts: Parts) {
    this.#needs = needs
    this.#parts = parts
  }

  /** Opens listeners and starts loops. Rejects with `unavailable` when `abort` is called before that is done. */
  async begin(): Promise<void> {
    const { ctx, jobs } = this.#needs
    const messages = wakeup(ctx.clock)
    await unlessCanceled(this.#over, this.#open(messages))
    jobs.set(true)
    if (ctx.queue.takesLeases === true) ctx.handOff.to = new LocalHandOff({ ctx, ...this.#parts })
    const { signal } = this.#over.child()
    ctx.handOff.messagesTo = new LocalMessageHandOff({ ctx, inbox: this.#parts.inbox, signal })
    this.#loops = runLoops({ ctx, parts: this.#parts, wakeups: { jobs, messages } }, this.#over)
  }

  async #open(messages: Wakeup): Promise<void> {
    const { ctx } = this.#needs
    // Processes for the code of tenants take as long to start as the engine takes to answer: side by side.
    const [advice] = await Promise.all([this.#verified(), ctx.plugins.ready(ctx.platform)])
    for (const sentence of new Set(advice)) ctx.log.warn(sentence)
    if (ctx.storage.inProcess === true && ctx.platform.production?.()) {
      ctx.log.warn('posthorn keeps everything in memory: nothing survives a restart of this process')
    }
    if (!ctx.secrets.seals) {
      ctx.log.info('secrets are stored as they are: set the option `secrets` to seal them at rest')
    }
    await ctx.clock.ready()
    await this.#listen(messages)
  }

  /** What the engines advise, where the schema has the right version. */
  async #verified(): Promise<readonly string[]> {
    const { ctx } = this.#needs
    await ctx.storage.verify?.()
    const advice = await Promise.all(engineParts(ctx).map(async (part) => part.advice?.() ?? []))
    return advice.flat()
  }

  async #listen(messages: Wakeup): Promise<void> {
    const { ctx, jobs, changed } = this.#needs
    const { holds, slots, inbox } = this.#parts
    for (const listen of [
      () =>
        ctx.queue.onAdded?.((where) => {
          if (where === 'here') return
          slots.backlog.addedElsewhere()
          jobs.wake(holds.isGivingBack ? 'freed' : 'added')
        }),
      () =>
        ctx.inbox.onPut?.(() => {
          inbox.added()
          messages.wake('added')
        }),
      () => ctx.storage.onChanged?.(changed),
    ]) {
      if (this.#over.canceled) return
      const close = await listen()
      if (close === undefined) continue
      this.#listeners.push(close)
      if (this.#over.canceled) await this.closeListeners() // aborted while this listener was opened
    }
  }

  /** Ends the loops, and a `begin` that is under way. */
  abort(): void {
    this.#over.cancel()
    const { handOff } = this.#needs.ctx
    handOff.to = null
    handOff.messagesTo = null
  }

  /** Resolves when all loops have ended. */
  async loopsEnded(): Promise<void> {
    await this.#loops
  }

  async closeListeners(): Promise<void> {
    const { log } = this.#needs.ctx
    await Promise.all(
      this.#listeners
        .splice(0)
        .map((close) => close().catch((cause: unknown) => log.warn('a listener could not be closed', { cause }))),
    )
  }
}

/** Settles as `work` does, or rejects when it is canceled before that. */
function unlessCanceled(until: Cancellation, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    until.follow(() => reject(new PosthornError('unavailable', 'it was stopped while it started')))
    work.then(resolve, reject)
  })
}
