import type { Awaitable } from '../contracts/awaitable.ts'

/** Passes a value on to `next`: at once if the value is known already, else when the promise resolves. */
export function goOn<Value, Answer>(value: Awaitable<Value>, next: (value: Value) => Answer): Awaitable<Answer> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** All values: at once if all are known already, else as a promise. */
export function allOf<Value>(values: readonly Awaitable<Value>[]): Awaitable<readonly Value[]> {
  const there = values.filter((value): value is Value => !(value instanceof Promise))
  return there.length === values.length ? there : Promise.all(values)
}
