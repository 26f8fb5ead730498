import type { EnginePart } from './engine.ts'
import type { RateLimit } from '../schema/shared.ts'

export interface Want {
  readonly key: string
  readonly limit: RateLimit
  /** How many to take; 0 only looks. */
  readonly want: number
}

/**
 * `granted`: how many of the wanted. Then what is left now; ms until one more is granted (0 when the limit has
 * something left); ms until the whole burst is back.
 */
export interface Grant {
  readonly granted: number
  readonly remaining: number
  readonly retryAfterMs: number
  readonly resetMs: number
}

/** GCRA limits, exact across processes. */
export interface Limiter extends EnginePart {
  /** Grants the first n of `want`, in one step per key. What is refused consumes nothing. */
  take(wants: readonly Want[], now: number): Promise<readonly Grant[]>
}
