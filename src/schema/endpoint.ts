import type { AnyEvents, EventPattern } from './catalogue.ts'
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
import { description, id, metadata, type Metadata, type Millis, name, type RateLimit, rateLimit } from './shared.ts'

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
  missed_since: readOnly(),
}

export const endpointInput = object({ ...entries, plugins: unsupported() })

/** What a client may write of an endpoint in the config document, where plugins stand inside their owner. */
export const endpointEntries = entries

/** Method of a request. */
export type HttpMethod = (typeof endpointMethods)[number]

/** What is sent where, as a client writes it. */
export interface EndpointRequestInput {
  /** An absolute http or https URL without user name and password, 1 to 8192 code points. */
  readonly url: string
  /** Default `POST`. GET and DELETE carry no body. */
  readonly method?: HttpMethod | null | undefined
  /** At most 100, with at most 65,536 characters together. Headers that frame or route a message cannot be set. Default none. */
  readonly headers?: Readonly<Record<string, string>> | null | undefined
  /** How long the receiver may take, milliseconds, 0 to 60,000; 0 means `deliver.timeoutMs`. Default 10,000. */
  readonly timeout?: number | null | undefined
}

/** The settings of the retry strategy `fixed`, as a client writes them. */
export interface FixedRetryInput {
  /**
   * One entry for each try: the seconds to wait before the try, counted from the end of the try before. 1 to 100 entries of
   * 0 to 31,536,000. Default `[0, 60, 3600]`.
   */
  readonly attempts?: readonly number[] | null | undefined
  /** The most that is added to each wait, as a share of the wait: 0.1 makes 60 s up to 66 s. 0 to 1. Default 0. */
  readonly jitter?: number | null | undefined
}

/** When a delivery that failed is tried again, as a client writes it. */
export interface RetryInput {
  /** Default `fixed`: the times stand in `config.attempts`. */
  readonly strategy?: 'fixed' | null | undefined
  /** The settings of the strategy. */
  readonly config?: FixedRetryInput | null | undefined
}

/** What a client may write of an endpoint. Null stands for the default. */
export interface EndpointInput<Catalogue extends object = AnyEvents> {
  /** 1 to 64 of `A-Z a-z 0-9 _ : -`. Default: a new id, which sorts by time. An update ignores the id. */
  readonly id?: string | null | undefined
  /** Up to 512 code points, unique in the workspace when not null. Default null. */
  readonly name?: string | null | undefined
  /** Up to 4096 code points. Default null. */
  readonly description?: string | null | undefined
  /** Whether events are sent to the endpoint. Default true. */
  readonly enabled?: boolean | null | undefined
  /** The request that carries an event to the receiver. */
  readonly request: EndpointRequestInput
  /** When a delivery that failed is tried again. Default: at once, after a minute, after an hour. */
  readonly retry?: RetryInput | null | undefined
  /** Event types or patterns, at most 200 of up to 255 code points: `invoice.paid`, `invoice.*`, `invoice.**`, `*`. Default none. */
  readonly events?: readonly EventPattern<Catalogue>[] | null | undefined
  /** Pairs of text for the host's own use: at most 100, keys up to 128 code points, values up to 4096. Default `{}`. */
  readonly metadata?: Metadata | null | undefined
  /** How many deliveries pass. Default null: no limit. */
  readonly rate_limit?: RateLimit | null | undefined
  /** Ignored: Posthorn sets this time. */
  readonly created_at?: number | null | undefined
  /** Ignored: Posthorn sets this time. */
  readonly updated_at?: number | null | undefined
  /** Ignored: Posthorn sets this time. */
  readonly disabled_at?: number | null | undefined
  /** Ignored: Posthorn sets the reason. */
  readonly disabled_reason?: string | null | undefined
  /** Ignored: Posthorn sets the reason. */
  readonly disabled_detail?: string | null | undefined
  /** While true, attempts are made and wait: nothing is sent, canceled or missed. Default false. */
  readonly paused?: boolean | null | undefined
  /** Ignored: only the answer that enables the endpoint has it. */
  readonly missed_since?: number | null | undefined
}

/** The request that carries an event to the receiver. */
export interface EndpointRequest {
  /** An absolute http or https URL. */
  readonly url: string
  /** Method of the request. */
  readonly method: HttpMethod
  /** Headers of each request; null where none are set. */
  readonly headers: Readonly<Record<string, string>> | null
  /** How long the receiver may take, milliseconds; 0 means `deliver.timeoutMs` of the instance. */
  readonly timeout: number
}

/** When a delivery that failed is tried again. */
export interface RetryPolicy {
  /** How the times are found: `fixed` takes them from the list. */
  readonly strategy: 'fixed'
  /** The settings of the strategy. */
  readonly config: FixedRetry
}

/** The settings of the retry strategy `fixed`. */
export interface FixedRetry {
  /** One entry for each try: the seconds to wait before the try, counted from the end of the try before. */
  readonly attempts: readonly number[]
  /** The most that is added to each wait, as a share of the wait: 0.1 makes 60 s up to 66 s. 0 to 1. */
  readonly jitter: number
}

/** A destination: an outbound request, its retry policy, the events it wants, and its rate limit. */
export interface Endpoint {
  /** 1 to 64 of `A-Z a-z 0-9 _ : -`. */
  readonly id: string
  /** Unique in the workspace when not null. */
  readonly name: string | null
  /** What the endpoint is for. */
  readonly description: string | null
  /** Whether events are sent to the endpoint. */
  readonly enabled: boolean
  /** The request that carries an event to the receiver. */
  readonly request: EndpointRequest
  /** When a delivery that failed is tried again. */
  readonly retry: RetryPolicy
  /** Event types or patterns: `invoice.paid`, `invoice.*`, `invoice.**`, `*`. */
  readonly events: readonly string[]
  /** Pairs of text for the host's own use. */
  readonly metadata: Metadata
  /** How many deliveries pass; null means no limit. */
  readonly rate_limit: RateLimit | null
  /** When the row was made, unix milliseconds. */
  readonly created_at: Millis
  /** When the row last changed, unix milliseconds. */
  readonly updated_at: Millis
  /** Since when the endpoint is off; null while the endpoint is on, and where the endpoint was turned off by a version that stored no reason. */
  readonly disabled_at: Millis | null
  /** Why the endpoint is off; null while the endpoint is on. */
  readonly disabled_reason: DisabledReason | null
  /** The reason as a sentence for a person. */
  readonly disabled_detail: string | null
  /** While true, attempts are made and wait: nothing is sent, canceled or missed. */
  readonly paused: boolean
  /**
   * Only in the answer to the write that turned the endpoint on: since when it missed events, unix milliseconds; null where that
   * is not known. `events.replay({ missing: true, endpoint_id, created_at: { gte: missed_since } })` sends them.
   */
  readonly missed_since?: Millis | null
}
