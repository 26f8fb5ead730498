import type { Clock } from '../contracts/clock.ts'
import type { Cancelable } from '../contracts/cancelable.ts'
import { startTimer } from './timer.ts'

/**
 * The outcome of work that ends within `ms` and before `until` is canceled; else throws what `late` makes. The work
 * itself goes on: a caller that can stop it must do so.
 */
export function withDeadline<Answer>(
  clock: Clock,
  ms: number,
  work: Promise<Answer>,
  late: () => Error,
  until?: Cancelable,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      cancel()
      reject(late())
    }
    const cancel = startTimer(clock, ms, giveUp)
    const done = (): void => {
      cancel()
      until?.unfollow(giveUp)
    }
    until?.follow(giveUp)
    work.then(
      (answer) => {
        done()
        resolve(answer)
      },
      (cause: unknown) => {
        done()
        reject(cause)
      },
    )
  })
}
