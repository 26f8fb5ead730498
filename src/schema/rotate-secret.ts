import * as v from 'valibot'

import { integer, object, text, withDefault } from './fields.ts'

export const rotateInput = object({
  overlap_seconds: withDefault(integer({ min: 0, max: 31_536_000 }), 86_400),
  secret: v.optional(text({ min: 1 })),
})
/** How an endpoint's secret is replaced. */
export interface RotateInput {
  /** Seconds for which deliveries carry the signatures of the old secrets too, 0 to 31,536,000; 0 ends them at once. Default 86,400. */
  readonly overlap_seconds?: number | null | undefined
  /** The new secret, in the form that the signature plugin asks for. Default: a new secret of the same kind of key. */
  readonly secret?: string | undefined
}
