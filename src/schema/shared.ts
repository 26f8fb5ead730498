import * as v from 'valibot'

import { dictionary, integer, keywords, object, text, textPattern, textProblem } from './fields.ts'

/** The form of every id that a client may choose. */
export const idPattern = /^[A-Za-z0-9_:-]{1,64}$/
const idRule = 'value must match [A-Za-z0-9_:-]{1,64}'

export const id = v.pipe(
  text({ rule: (value) => (idPattern.test(value) ? null : idRule) }),
  keywords({ pattern: idPattern.source }),
)

/**
 * The same in a config document, where spaces at the end of an id are cut off: WebhookX pads short ids to 27
 * characters.
 */
export const paddedId = v.pipe(
  text(),
  v.transform((value) => value.replace(/ +$/, '')),
  v.check((value) => idPattern.test(value), idRule),
  keywords({ pattern: idPattern.source.replace('$', ' *$') }),
)

export const name = text({ max: 512 })
export const description = text({ max: 4096 })

/** Free strings of the user's own: up to 100 pairs, keys up to 128 code points, values up to 4096. */
export const metadata = dictionary(
  (key, value) => textProblem(key, { max: 128 }) ?? textProblem(value, { max: 4096 }),
  {
    max: 100,
    keys: { pattern: textPattern, maxLength: 128 },
    values: { pattern: textPattern, maxLength: 4096 },
  },
)
/** Pairs of text for the host's own use. */
export type Metadata = Readonly<Record<string, string>>

/** A GCRA limit: a burst of `quota`, then one more request each `period / quota` seconds. */
export interface RateLimit {
  /** Allowed in each period; 0 refuses all. */
  readonly quota: number
  /** Seconds, at least 1. */
  readonly period: number
}
export const rateLimit = object({ quota: integer({ min: 0 }), period: integer({ min: 1 }) })

/** Unix time in milliseconds. */
export type Millis = number
