import type { Storage } from '../contracts/storage.ts'
import { PosthornError } from '../errors.ts'

const mostRetries = 5

// Keyed by the storage, so that a handle inside a transaction never waits for one outside, which may wait for its locks.
const running = new WeakMap<Storage, Map<string, Promise<unknown>>>()

/**
 * Runs one write of configuration that begins by reading: writers with the same key in this process wait for one
 * another. Across processes the revision decides: `work` answers 'conflict' and is run again, at most five times.
 * @throws PosthornError `overloaded` when others write too fast for that.
 */
export async function inTurn<Answer>(
  storage: Storage,
  key: string,
  work: () => Promise<Answer | 'conflict'>,
): Promise<Answer> {
  let turns = running.get(storage)
  if (turns === undefined) running.set(storage, (turns = new Map<string, Promise<unknown>>()))
  const mine = after(turns.get(key), work)
  turns.set(key, mine)
  try {
    return await mine
  } finally {
    if (turns.get(key) === mine) turns.delete(key)
  }
}

async function after<Answer>(
  previous: Promise<unknown> | undefined,
  work: () => Promise<Answer | 'conflict'>,
): Promise<Answer> {
  await previous?.catch(() => {}) // its own caller hears of it
  for (let tries = 0; tries <= mostRetries; tries++) {
    const answer = await work()
    if (answer !== 'conflict') return answer
  }
  throw new PosthornError('overloaded', 'too many writers at once')
}
