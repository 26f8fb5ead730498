import type { Clock } from '../contracts/clock.ts'

/** Calls `ring` after `ms`, unless what it answers is called before. */
export function startTimer(clock: Clock, ms: number, ring: () => void): () => void {
  if (clock.startTimer !== undefined) return clock.startTimer(ms, ring)
  const over = new AbortController()
  void clock.sleep(ms, over.signal).then(() => over.signal.aborted || ring())
  // A text as the reason is cheap: an error would cost a stack trace.
  return () => over.abort('canceled')
}
