import type { Awaitable } from '../contracts/awaitable.ts'

/** Goes on with a value, at once where it is there already. */
export function goOn<Value, Answer>(value: Awaitable<Value>, next: (value: Value) => Answer): Awaitable<Answer> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** All values, at once where all are there already. */
export function allOf<Value>(values: readonly Awaitable<Value>[]): Awaitable<readonly Value[]> {
  const there = values.filter((value): value is Value => !(value instanceof Promise))
  return there.length === values.length ? there : Promise.all(values)
}
