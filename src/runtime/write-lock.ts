import type { Storage } from '../contracts/storage.ts'
import { PosthornError } from '../errors.ts'

const maxRetries = 5
const maxWaiting = 1000

/** The last of those who wait, and how many do. */
interface Turn {
  readonly last: Promise<unknown>
  readonly waiting: number
}

// Keyed by the storage, so that a handle inside a transaction never waits for a writer outside, which may wait for the
// locks of that transaction.
const running = new WeakMap<Storage, Map<string, Turn>>()

/**
 * Runs a write of configuration that begins by reading: writers with the same key in this process wait for one another.
 * Across processes the revision decides: `work` answers 'conflict' and is run again, at most five times.
 * @throws PosthornError `overloaded` when others write too fast for that, or a thousand wait already.
 */
export async function withWriteLock<Answer>(
  storage: Storage,
  key: string,
  work: () => Promise<Answer | 'conflict'>,
): Promise<Answer> {
  let turns = running.get(storage)
  if (turns === undefined) running.set(storage, (turns = new Map<string, Turn>()))
  const before = turns.get(key)
  if (before !== undefined && before.waiting >= maxWaiting) {
    throw new PosthornError('overloaded', 'too many writers wait')
  }
  const last = after(before?.last, work)
  const turn: Turn = { last, waiting: (before?.waiting ?? 0) + 1 }
  turns.set(key, turn)
  try {
    return await last
  } finally {
    const now = turns.get(key)
    if (now === undefined || now.waiting <= 1) turns.delete(key)
    else turns.set(key, { ...now, waiting: now.waiting - 1 })
  }
}

async function after<Answer>(
  previous: Promise<unknown> | undefined,
  work: () => Promise<Answer | 'conflict'>,
): Promise<Answer> {
  await previous?.catch(() => {}) // the caller of `previous` gets its failure
  for (let tries = 0; tries <= maxRetries; tries++) {
    const answer = await work()
    if (answer !== 'conflict') return answer
  }
  throw new PosthornError('overloaded', 'too many writers at once')
}
