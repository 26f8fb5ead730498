import * as v from 'valibot'

import { integer, object, text, withDefault } from './fields.ts'

/** How an endpoint's secret is rotated. */
export const rotateInput = object({
  overlap_seconds: withDefault(integer({ min: 0, max: 31_536_000 }), 86_400),
  secret: v.optional(text({ min: 1 })),
})
export interface RotateInput {
  /** How long deliveries carry the signatures of the old secrets too. 0 ends them at once. Default 86,400, at most a year. */
  readonly overlap_seconds?: number
  /** Default: a new one of the same kind of key. */
  readonly secret?: string
}
