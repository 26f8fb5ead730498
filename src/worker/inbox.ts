import type { Context } from '../context.ts'
import type { Taken } from '../contracts/inbox.ts'
import { isRetryable, PosthornError } from '../errors.ts'
import type { Ingest } from '../services/ingest.ts'

const batchSize = 500
const batchBytes = 16 * 1024 * 1024
const leaseMs = 30_000
const maxTries = 5
const againMs = 1000

/** Stores what async sources accepted. */
export interface InboxConsumer {
  /**
   * Stores a batch: at most 500 messages and 16 MiB. Answers how many messages the batch had. With a `signal` it tries
   * again while the storage is away, until that aborts: what is held goes on within seconds of the storage's return.
   */
  batch(signal?: AbortSignal): Promise<number>
}

/** `away`: the storage does not answer. `again`: a later take tries again. */
type Outcome = 'done' | 'away' | 'again' | 'bad'

export function inboxConsumer(ctx: Context, ingest: Ingest): InboxConsumer {
  async function store(message: Taken): Promise<Outcome> {
    try {
      // The event gets the id of the message: a second consumer of the message finds the event stored.
      await ingest.into(message.workspaceId, message)
      return 'done'
    } catch (cause) {
      if (cause instanceof PosthornError) {
        // The workspace was deleted, or another consumer stored the event before it died. Both need no second try.
        if (cause.code === 'unknown_workspace' || cause.code === 'unique_violation') return 'done'
        if (isRetryable(cause)) return 'away'
      }
      ctx.log.error(`message ${message.id} could not be stored, try ${message.tries}`, { cause })
      return message.tries >= maxTries ? 'bad' : 'again'
    }
  }

  /** Stores messages and lets go of those that need no other try. Answers those for which the storage was away. */
  async function storeAll(taken: readonly Taken[]): Promise<readonly Taken[]> {
    const outcomes = await Promise.all(taken.map(store))
    const those = (wanted: Outcome) => taken.filter((_, i) => outcomes[i] === wanted)
    const [done, bad] = [those('done'), those('bad')]
    if (done.length > 0) await ctx.inbox.done(done)
    if (bad.length > 0) {
      for (const { id } of bad) ctx.log.error(`message ${id} moved to the dead list after ${maxTries} tries`)
      await ctx.inbox.bury(bad, `could not be stored in ${maxTries} tries`)
    }
    return those('away')
  }

  return {
    async batch(signal) {
      await ctx.clock.ready()
      const taken = await ctx.inbox.take({ limit: batchSize, maxBytes: batchBytes, leaseMs, now: ctx.clock.now() })
      if (taken.length === 0) return 0
      if (signal === undefined) await storeAll(taken)
      else await storeUntilBack(ctx, storeAll, taken, signal)
      // The other messages are tried again when their leases end.
      return taken.length
    },
  }
}

/**
 * Tries again each second what could not be stored. After the lease another process may store a message too, which
 * changes nothing. But where storage serves other processes, the rest is then left to a later take.
 */
async function storeUntilBack(
  ctx: Context,
  storeAll: (taken: readonly Taken[]) => Promise<readonly Taken[]>,
  taken: readonly Taken[],
  signal: AbortSignal,
): Promise<void> {
  const since = ctx.clock.elapsed()
  let left = taken
  while (!signal.aborted) {
    const away = await storeAll(left).catch((cause: unknown) => {
      ctx.repeating.error('stored messages could not be removed; trying again', { cause })
      return left
    })
    const isThere = away.length < left.length
    if (away.length === 0 || (isThere && ctx.clock.elapsed() - since >= leaseMs)) return
    left = away
    await ctx.clock.sleep(againMs, signal)
  }
}
