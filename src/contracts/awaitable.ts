/** A value that is there, or a promise of the value. */
export type Awaitable<T> = T | Promise<T>
