import * as v from 'valibot'

import { endpointMethods } from './endpoint.ts'
import { flag, integer, list, object, oneOf, orNull, readOnly, text, unsupported, withDefault } from './fields.ts'
import { id, metadata, type Metadata, type Millis, name, type RateLimit, rateLimit, type Input } from './shared.ts'

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const headerText = /^[\x09\x20-\x7e]+$/

/** An empty path means none, as a missing one does. */
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

/** What a client may write of a source. */
export const sourceInput = object({ ...entries, plugins: unsupported() })
export type SourceInput = Input<typeof sourceInput>

/** The same in the config document, where plugins stand inside their owner. */
export const sourceEntries = entries

/** An inbound entry point. */
export interface Source {
  readonly id: string
  /** Unique in the workspace when not null. */
  readonly name: string | null
  readonly enabled: boolean
  readonly type: 'http'
  readonly config: {
    readonly http: {
      /** Exact and decoded. No two enabled sources of an instance share a path and a method. */
      readonly path: string
      readonly methods: readonly (typeof endpointMethods)[number][]
      readonly response: { readonly code: number; readonly content_type: string; readonly body: string } | null
    }
  }
  /** Whether a request is answered once the inbox has it, before the event is stored. */
  readonly async: boolean
  readonly metadata: Metadata
  readonly rate_limit: RateLimit | null
  readonly created_at: Millis
  readonly updated_at: Millis
}
