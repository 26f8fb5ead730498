import type { Context } from '../context.ts'
import type { Taken } from '../contracts/inbox.ts'
import { isRetryable, PosthornError } from '../errors.ts'
import type { Ingest } from '../services/ingest.ts'

const batchSize = 500
const batchBytes = 16 * 1024 * 1024
const leaseMs = 30_000
const mostTries = 5

/** Stores what async sources accepted. */
export interface Consumer {
  /** Stores a batch: at most 500 messages and 16 MiB. Answers how many messages the batch had. */
  batch(): Promise<number>
}

export function consumer(ctx: Context, ingest: Ingest): Consumer {
  async function store(message: Taken): Promise<'done' | 'again' | 'bad'> {
    try {
      // The event gets the id of the message: a second consumer of the message finds the event stored.
      await ingest.into(message.workspaceId, message)
      return 'done'
    } catch (cause) {
      if (cause instanceof PosthornError) {
        // The workspace was deleted, or another consumer stored the event before it died. Both need no second try.
        if (cause.code === 'unknown_workspace' || cause.code === 'unique_violation') return 'done'
        if (isRetryable(cause)) return 'again'
      }
      ctx.log.error(`message ${message.id} could not be stored, try ${message.tries}`, { cause })
      return message.tries >= mostTries ? 'bad' : 'again'
    }
  }

  return {
    async batch() {
      await ctx.clock.ready()
      const taken = await ctx.inbox.take({ limit: batchSize, maxBytes: batchBytes, leaseMs, now: ctx.clock.now() })
      if (taken.length === 0) return 0
      const outcomes = await Promise.all(taken.map(store))
      const done = taken.filter((_, i) => outcomes[i] === 'done')
      const bad = taken.filter((_, i) => outcomes[i] === 'bad')
      if (done.length > 0) await ctx.inbox.done(done)
      if (bad.length > 0) {
        for (const { id } of bad) ctx.log.error(`message ${id} moved to the dead list after ${mostTries} tries`)
        await ctx.inbox.bury(bad, `could not be stored in ${mostTries} tries`)
      }
      // The other messages are tried again when their leases end. So a storage that is down gets time.
      return taken.length
    },
  }
}
