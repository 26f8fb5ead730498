import * as v from 'valibot'

import { type EndpointInput, endpointEntries } from './endpoint.ts'
import { closedObject, isPlainObject, list, object, orNull, withDefault } from './fields.ts'
import { type PluginInput, pluginEntries } from './plugin.ts'
import { paddedId } from './shared.ts'
import { type SourceInput, sourceEntries } from './source.ts'

type Owned<Input> = Omit<Input, 'plugins'> & {
  readonly plugins?: readonly Omit<PluginInput, 'endpoint_id' | 'source_id'>[] | null
}

/**
 * The document of a config sync. A key that is present owns its kind: what it does not list is deleted, and null lists
 * nothing. A kind whose key is absent is left alone, unless `compatible` of the options says otherwise.
 */
export interface ConfigDocument {
  readonly endpoints?: readonly Owned<EndpointInput>[] | null
  readonly sources?: readonly Owned<SourceInput>[] | null
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
  /** What the sync left out of the document, the first hundred of it. There only where it left something out. */
  readonly warnings?: readonly string[]
}

// The owner of a plugin is the entry around it; an owner id inside is ignored.
const { endpoint_id: _endpoint, source_id: _source, ...owned } = pluginEntries
const id = orNull(paddedId)
const plugins = withDefault(list(object({ ...owned, id })), [])

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

/** The entries of a kind. Null lists none, as `[]`: dumps of WebhookX write an empty kind so. */
function kind<Entries extends v.GenericSchema<unknown, readonly unknown[]>>(entries: Entries) {
  return v.optional(
    v.pipe(
      v.nullable(entries),
      v.transform((given): v.InferOutput<Entries> => given ?? []),
    ),
  )
}

/** A whole document. Top-level keys that begin with `x-` are the user's own. */
export const configDocument = closedObject(
  {
    endpoints: kind(list(named({ ...endpointEntries, id, plugins }))),
    sources: kind(list(named({ ...sourceEntries, id, plugins }))),
  },
  { free: /^x-/ },
)
