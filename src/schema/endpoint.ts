import * as v from 'valibot'

import {
  dictionary,
  flag,
  integer,
  list,
  number,
  object,
  oneOf,
  orNull,
  readOnly,
  readOnlyText,
  text,
  textProblem,
  unsupported,
  withDefault,
} from './fields.ts'
import { isFramingHeader } from './framing-headers.ts'
import {
  description,
  id,
  metadata,
  type Metadata,
  type Millis,
  name,
  type RateLimit,
  rateLimit,
  type Input,
} from './shared.ts'

export const endpointMethods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const

const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const headerValue = /^[\x09\x20-\x7e\x80-\xff]*$/

/** Why a header may not be set, or null. Names are RFC 9110 tokens, values hold no control characters and are Latin-1. */
export function headerProblem(key: string, value: string): string | null {
  if (!headerName.test(key)) return 'invalid header name'
  if (isFramingHeader(key.toLowerCase())) return 'header cannot be set'
  return headerValue.test(value) ? null : 'invalid header value'
}

/** Why a text is no destination, or null: an absolute http or https URL without user information. */
export function urlProblem(value: string): string | null {
  let url: URL
  try {
    url = new URL(value)
  } catch {
    return 'value must be an http or https URL'
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'value must be an http or https URL'
  return url.username !== '' || url.password !== '' ? 'value must not contain credentials' : null
}

/** An http or https URL without user information. What else `urlProblem` asks of a URL, a pattern cannot tell. */
const urlPattern = String.raw`^[Hh][Tt][Tt][Pp][Ss]?://[^\s/?#@\\]+([/?#][^\x00]*)?$`

/** The most event patterns that all endpoints of a workspace may have together. */
export const maxPatterns = 100_000

/** How long a request may take where nobody says another time. */
export const defaultTimeoutMs = 10_000

export const timeout = integer({ min: 0, max: 60_000 })

/** What is sent where. `timeout` is in milliseconds; 0 means `deliver.timeoutMs` of the instance. */
const request = object({
  url: text({ min: 1, max: 8192, rule: urlProblem, pattern: urlPattern }),
  method: withDefault(oneOf(endpointMethods), 'POST'),
  headers: orNull(
    dictionary((key, value) => textProblem(key, {}) ?? textProblem(value, {}) ?? headerProblem(key, value), {
      max: 100,
      maxLength: 65_536,
      keys: { pattern: headerName.source },
      values: { pattern: headerValue.source },
    }),
  ),
  timeout: withDefault(timeout, defaultTimeoutMs),
})

/** One entry per try: the seconds to wait before it, counted from the end of the try before. */
export const retry = object({
  strategy: withDefault(oneOf(['fixed']), 'fixed'),
  config: withDefault(
    object({
      attempts: withDefault(list(integer({ min: 0, max: 31_536_000 }), { min: 1, max: 100 }), [0, 60, 3600]),
      jitter: withDefault(number({ min: 0, max: 1 }), 0),
    }),
    {},
  ),
})

/** Why an endpoint is off: by hand, after 410 Gone, by the circuit breaker, or since it failed for days. */
export type DisabledReason = 'manual' | 'gone' | 'breaker' | 'failing'

/**
 * A request that is missing or null is read as `{}`, so that the refusal names the url. To whoever writes an endpoint it is
 * required all the same: that is what the type says.
 */
const requestOrNothing = withDefault(request, {} as never) as unknown as typeof request

const entries = {
  id: orNull(id),
  name: orNull(name),
  description: orNull(description),
  enabled: withDefault(flag(), true),
  request: requestOrNothing,
  retry: withDefault(retry, {}),
  events: withDefault(list(text({ min: 1, max: 255 }), { max: 200 }), []),
  metadata: withDefault(metadata, {}),
  rate_limit: orNull(rateLimit),
  created_at: readOnly(),
  updated_at: readOnly(),
  disabled_at: readOnly(),
  disabled_reason: readOnlyText(),
  disabled_detail: readOnlyText(),
  paused: withDefault(flag(), false),
}

/** What a client may write of an endpoint. */
export const endpointInput = object({ ...entries, plugins: unsupported() })
export type EndpointInput = Input<typeof endpointInput>

/** The same in the config document, where plugins stand inside their owner. */
export const endpointEntries = entries

/** A destination: an outbound request, its retry policy, the events it wants, and its limit. */
export interface Endpoint {
  readonly id: string
  /** Unique in the workspace when not null. */
  readonly name: string | null
  readonly description: string | null
  readonly enabled: boolean
  readonly request: Readonly<v.InferOutput<typeof request>>
  readonly retry: {
    readonly strategy: 'fixed'
    readonly config: {
      /** Seconds to wait before each try, counted from the end of the try before. */
      readonly attempts: readonly number[]
      /** The most that is added to each wait, as a share of the wait: 0.1 makes 60 s up to 66 s. 0 to 1. */
      readonly jitter: number
    }
  }
  /** Event names or patterns: `invoice.paid`, `invoice.*`, `invoice.**`, `*`. */
  readonly events: readonly string[]
  readonly metadata: Metadata
  readonly rate_limit: RateLimit | null
  readonly created_at: Millis
  readonly updated_at: Millis
  /** Since when the endpoint is off; null while the endpoint is on, and where the endpoint was turned off by a version that told no reason. */
  readonly disabled_at: Millis | null
  readonly disabled_reason: DisabledReason | null
  /** The reason as one sentence for a person. */
  readonly disabled_detail: string | null
  /** While true, attempts are made and wait: nothing is sent, canceled or missed. */
  readonly paused: boolean
}
