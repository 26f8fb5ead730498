import type { Clock } from '../contracts/clock.ts'
import { alarm } from './alarm.ts'

/**
 * What work comes to, if it comes to anything within `ms`; else it throws what `late` makes. The work itself goes on: who
 * can stop it must do so.
 */
export function inTime<Answer>(clock: Clock, ms: number, work: Promise<Answer>, late: () => Error): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const cancel = alarm(clock, ms, () => reject(late()))
    work.then(
      (answer) => {
        cancel()
        resolve(answer)
      },
      (cause: unknown) => {
        cancel()
        reject(cause)
      },
    )
  })
}
