/** A value, or a promise of the value. */
export type Awaitable<T> = T | Promise<T>
