import type { Clock } from '../contracts/clock.ts'

/**
 * What work comes to, if it comes to anything within `ms`; else it throws what `late` makes. The work itself goes on: who
 * can stop it must do so.
 */
export async function inTime<Answer>(
  clock: Clock,
  ms: number,
  work: Promise<Answer>,
  late: () => Error,
): Promise<Answer> {
  const over = new AbortController()
  const deadline = clock.sleep(ms, over.signal).then(() => (over.signal.aborted ? work : Promise.reject(late())))
  // A reason that is a text costs no error with its stack.
  return await Promise.race([work, deadline]).finally(() => over.abort('finished'))
}
