import * as v from 'valibot'

import { anyObject, flag, object, orNull, readOnly, text, withDefault } from './fields.ts'
import { id, metadata, type Metadata, type Millis, type Input } from './shared.ts'

const entries = {
  id: orNull(id),
  // A missing name is answered as an unknown one, by the check that knows the names.
  name: v.optional(text(), ''),
  enabled: withDefault(flag(), true),
  endpoint_id: orNull(text()),
  source_id: orNull(text()),
  config: withDefault(anyObject(), {}),
  metadata: withDefault(metadata, {}),
  created_at: readOnly(),
  updated_at: readOnly(),
}

/** What a client may write of a plugin. */
export const pluginInput = object(entries)
export type PluginInput = Input<typeof pluginInput>

/** The same in the config document, where the owner is the entry around it. */
export const pluginEntries = entries

/** A configurable component attached to one endpoint or one source. */
export interface Plugin {
  readonly id: string
  /** The kind, such as `hmac-auth`. One of a kind per owner. */
  readonly name: string
  readonly enabled: boolean
  readonly endpoint_id: string | null
  readonly source_id: string | null
  readonly config: Readonly<Record<string, unknown>>
  readonly metadata: Metadata
  readonly created_at: Millis
  readonly updated_at: Millis
}
