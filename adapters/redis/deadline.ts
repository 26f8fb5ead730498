import { PosthornError } from '../../src/errors.ts'

/** How long one command may take, milliseconds; a client that has lost the server keeps commands waiting for ever. */
export const deadlineMs = 5_000

/** Gives up after the deadline. What was sent may still run. */
export function within<T>(work: Promise<T>, ms: number = deadlineMs): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new PosthornError('unavailable', `Redis did not answer within ${ms} ms`))
    }, ms)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
