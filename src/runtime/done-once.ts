/** The outcome of work that is done at the first call. */
export interface DoneOnce<Value> {
  readonly value: () => Promise<Value>
  /** The same once the work is done, so that the hot path need not wait. */
  readonly current: () => Value | undefined
}

/** Does work once, however many ask. A failure is remembered too, unless it `passes`: then the next caller has the work done again. */
export function doneOnce<Value>(work: () => Promise<Value>, passes: (cause: unknown) => boolean): DoneOnce<Value> {
  let doing: Promise<Value> | undefined
  let current: Value | undefined
  return {
    current: () => current,
    value: () =>
      (doing ??= work().then(
        (value) => (current = value),
        (cause: unknown) => {
          if (passes(cause)) doing = undefined
          throw cause
        },
      )),
  }
}
