import * as v from 'valibot'

import { endpointMethods, type HttpMethod } from './endpoint.ts'
import { flag, integer, list, object, oneOf, orNull, readOnly, text, unsupported, withDefault } from './fields.ts'
import { id, metadata, type Metadata, type Millis, name, type RateLimit, rateLimit } from './shared.ts'

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const headerText = /^[\x09\x20-\x7e]+$/

/** An empty path means none, as a missing path does. */
const path = v.pipe(
  text({
    max: 1024,
    rule: (value) => (value === '' || value.startsWith('/') ? null : 'value must start with "/"'),
    pattern: String.raw`^(/[^\x00]*)?$`,
  }),
  v.transform((value) => (value === '' ? null : value)),
)

const http = object({
  path: orNull(path),
  methods: withDefault(list(oneOf(endpointMethods), { min: 1, max: 5 }), ['POST']),
  response: orNull(
    object({
      code: integer({ min: 200, max: 599 }),
      content_type: text({
        min: 1,
        rule: (value) => (headerText.test(value) ? null : 'invalid header value'),
        pattern: headerText.source,
      }),
      body: withDefault(text(), ''),
    }),
  ),
})

const entries = {
  id: orNull(id),
  name: orNull(name),
  enabled: withDefault(flag(), true),
  type: withDefault(oneOf(['http']), 'http'),
  config: object({ http: withDefault(http, {}) }),
  async: withDefault(flag(), false),
  metadata: withDefault(metadata, {}),
  rate_limit: orNull(rateLimit),
  created_at: readOnly(),
  updated_at: readOnly(),
}

export const sourceInput = object({ ...entries, plugins: unsupported() })

/** What a client may write of a source in the config document, where plugins stand inside their owner. */
export const sourceEntries = entries

/** What an accepted request is answered. */
export interface SourceResponse {
  /** HTTP status, 200 to 599. */
  readonly code: number
  /** Content type, at least 1 character. */
  readonly content_type: string
  /** Body. */
  readonly body: string
}

/** What an accepted request is answered, as a client writes it. */
export interface SourceResponseInput {
  /** HTTP status, 200 to 599. */
  readonly code: number
  /** Content type, at least 1 character. */
  readonly content_type: string
  /** Default the empty text. */
  readonly body?: string | null | undefined
}

/** Where the gateway takes requests for a source, and how it answers them, as a client writes it. */
export interface SourceHttpInput {
  /** Path under the gateway, exact and decoded, up to 1024 code points. Default, and for an empty text: a path that nobody guesses. */
  readonly path?: string | null | undefined
  /** Methods that the source takes, 1 to 5. Default `['POST']`. */
  readonly methods?: readonly HttpMethod[] | null | undefined
  /** What an accepted request is answered. Default null: a JSON message. */
  readonly response?: SourceResponseInput | null | undefined
}

/** The settings of a source by type, as a client writes them. */
export interface SourceConfigInput {
  /** The settings of a source of type `http`. Default: a path that nobody guesses, `POST`. */
  readonly http?: SourceHttpInput | null | undefined
}

/** What a client may write of a source. Null stands for the default. */
export interface SourceInput {
  /** 1 to 64 of `A-Z a-z 0-9 _ : -`. Default: a new id, which sorts by time. An update ignores the id. */
  readonly id?: string | null | undefined
  /** Up to 512 code points, unique in the workspace when not null. Default null. */
  readonly name?: string | null | undefined
  /** Whether the gateway takes requests for the source. Default true. */
  readonly enabled?: boolean | null | undefined
  /** Kind of the source. Default `http`. */
  readonly type?: 'http' | null | undefined
  /** Where the gateway takes requests for the source, and how it answers them. */
  readonly config: SourceConfigInput
  /** Whether a request is answered once the inbox has it, before the event is stored. Default false. */
  readonly async?: boolean | null | undefined
  /** Pairs of text for the host's own use: at most 100, keys up to 128 code points, values up to 4096. Default `{}`. */
  readonly metadata?: Metadata | null | undefined
  /** How many requests pass. Default null: no limit. */
  readonly rate_limit?: RateLimit | null | undefined
  /** Ignored: Posthorn sets this time. */
  readonly created_at?: number | null | undefined
  /** Ignored: Posthorn sets this time. */
  readonly updated_at?: number | null | undefined
}

/** Where the gateway takes requests for a source, and how it answers them. */
export interface SourceHttp {
  /** Path under the gateway, exact and decoded. No two enabled sources of an instance share a path and a method. */
  readonly path: string
  /** Methods that the source takes. */
  readonly methods: readonly HttpMethod[]
  /** What an accepted request is answered; null means a JSON message. */
  readonly response: SourceResponse | null
}

/** The settings of a source by type. */
export interface SourceConfig {
  /** The settings of a source of type `http`. */
  readonly http: SourceHttp
}

/** An inbound entry point. */
export interface Source {
  /** 1 to 64 of `A-Z a-z 0-9 _ : -`. */
  readonly id: string
  /** Unique in the workspace when not null. */
  readonly name: string | null
  /** Whether the gateway takes requests for the source. */
  readonly enabled: boolean
  /** Kind of the source. */
  readonly type: 'http'
  /** Where the gateway takes requests for the source, and how it answers them. */
  readonly config: SourceConfig
  /** Whether a request is answered once the inbox has it, before the event is stored. */
  readonly async: boolean
  /** Pairs of text for the host's own use. */
  readonly metadata: Metadata
  /** How many requests pass; null means no limit. */
  readonly rate_limit: RateLimit | null
  /** When the row was made, unix milliseconds. */
  readonly created_at: Millis
  /** When the row last changed, unix milliseconds. */
  readonly updated_at: Millis
}
