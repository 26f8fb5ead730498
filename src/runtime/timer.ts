import type { Clock } from '../contracts/clock.ts'

/** Calls `ring` after `ms`, unless what it answers is called before. */
export function alarm(clock: Clock, ms: number, ring: () => void): () => void {
  if (clock.alarm !== undefined) return clock.alarm(ms, ring)
  const over = new AbortController()
  void clock.sleep(ms, over.signal).then(() => over.signal.aborted || ring())
  // A reason that is a text costs no error with its stack.
  return () => over.abort('canceled')
}
