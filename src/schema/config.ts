import * as v from 'valibot'

import { type EndpointInput, endpointEntries } from './endpoint.ts'
import { closedObject, isPlainObject, list, object, withDefault } from './leaf.ts'
import { type PluginInput, pluginEntries } from './plugin.ts'
import { type SourceInput, sourceEntries } from './source.ts'

type Owned<Input> = Omit<Input, 'plugins'> & {
  readonly plugins?: readonly Omit<PluginInput, 'endpoint_id' | 'source_id'>[] | null
}

/** The document of a config sync. A key that is present owns its kind: what it does not list is deleted. */
export interface ConfigDocument {
  readonly endpoints?: readonly Owned<EndpointInput>[]
  readonly sources?: readonly Owned<SourceInput>[]
}

export interface SyncCounts {
  readonly created: number
  readonly updated: number
  readonly deleted: number
  readonly unchanged: number
}

/** What a config sync did, or would do. */
export interface SyncReport {
  readonly endpoints: SyncCounts
  readonly sources: SyncCounts
  readonly plugins: SyncCounts
}

// The owner of a plugin is the entry around it; an owner id inside is ignored.
const { endpoint_id: _endpoint, source_id: _source, ...owned } = pluginEntries
const plugins = withDefault(list(object(owned)), [])

/** Every entry is known by its id or its name. */
function named<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.pipe(
    object(entries),
    v.rawCheck(({ dataset, addIssue }) => {
      const input: unknown = dataset.value
      if (!isPlainObject(input) || (input['id'] ?? null) !== null || (input['name'] ?? null) !== null) return
      addIssue({
        message: 'id or name is required',
        path: [{ type: 'object', origin: 'value', input, key: 'name', value: input['name'] }],
      })
    }),
  )
}

/** A whole document. Top-level keys that begin with `x-` are the user's own. */
export const configDocument = closedObject(
  {
    endpoints: v.optional(list(named({ ...endpointEntries, plugins }))),
    sources: v.optional(list(named({ ...sourceEntries, plugins }))),
  },
  { free: /^x-/ },
)
