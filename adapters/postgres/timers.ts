/** No statement takes longer, the wait for a connection included. */
export const defaultTimeoutMs = 20_000

/** Lets the process end while the timer runs, where the runtime can. */
export function letExit(timer: unknown): void {
  ;(timer as { unref?(): void }).unref?.() // a number in browsers and on the edge
}

/** Whether a promise settles within `ms`, one way or the other. */
export function settled(promise: PromiseLike<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms)
    const done = (): void => {
      clearTimeout(timer)
      resolve(true)
    }
    promise.then(done, done)
  })
}

/** Whether a promise is fulfilled within `ms`. The error of a rejection is lost. */
export async function quietly(promise: PromiseLike<unknown>, ms: number): Promise<boolean> {
  let isFulfilled = false
  await settled(
    promise.then(() => (isFulfilled = true)),
    ms,
  )
  return isFulfilled
}
