import type { Database } from './database.ts'
import { lateError } from './errors.ts'
import { defaultTimeoutMs, settled } from './timers.ts'

const turns = new WeakMap<Database, Map<string, Promise<unknown>>>()

/** Works when those have ended who came before with the same key. @throws PosthornError `unavailable` after 20 s of waiting. */
export async function inTurn<Answer>(db: Database, key: string, work: () => Promise<Answer>): Promise<Answer> {
  let last = turns.get(db)
  if (last === undefined) turns.set(db, (last = new Map<string, Promise<unknown>>()))
  const before = last.get(key)
  const mine = after(before, work)
  const ended = Promise.allSettled([before, mine])
  last.set(key, ended)
  try {
    return await mine
  } finally {
    if (last.get(key) === ended) last.delete(key)
  }
}

async function after<Answer>(before: Promise<unknown> | undefined, work: () => Promise<Answer>): Promise<Answer> {
  if (before !== undefined && !(await settled(before, defaultTimeoutMs))) throw lateError()
  return await work()
}
