import * as v from 'valibot'

import { type EndpointInput, endpointEntries } from './endpoint.ts'
import { closedObject, isPlainObject, list, object, orNull, withDefault } from './fields.ts'
import { type PluginFields, pluginEntries } from './plugin.ts'
import { paddedId } from './shared.ts'
import { type SourceInput, sourceEntries } from './source.ts'

/** A plugin inside its owner's entry. */
export interface OwnedPlugin extends Omit<PluginFields, 'endpoint_id' | 'source_id'> {
  /** The settings of the plugin, as the plugin's kind asks for them. Default: the defaults of the kind. */
  readonly config?: Readonly<Record<string, unknown>> | null | undefined
}

/** An endpoint in the document, known by its id or its name. */
export interface EndpointEntry extends EndpointInput {
  /** The plugins of the endpoint. Those that the list does not name are deleted. Default none. */
  readonly plugins?: readonly OwnedPlugin[] | null | undefined
}

/** A source in the document, known by its id or its name. */
export interface SourceEntry extends SourceInput {
  /** The plugins of the source. Those that the list does not name are deleted. Default none. */
  readonly plugins?: readonly OwnedPlugin[] | null | undefined
}

/**
 * The document of a config sync. A key that is present owns a kind of rows: rows that it does not list are deleted, and
 * null lists nothing. A kind whose key is absent is left alone, unless the option `compatible` says otherwise.
 */
export interface ConfigDocument {
  /** The endpoints of the workspace with their plugins. */
  readonly endpoints?: readonly EndpointEntry[] | null
  /** The sources of the workspace with their plugins. */
  readonly sources?: readonly SourceEntry[] | null
}

/** What a config sync did with the rows of a kind. */
export interface SyncCounts {
  /** Rows that were made. */
  readonly created: number
  /** Rows that were changed. */
  readonly updated: number
  /** Rows that were deleted. */
  readonly deleted: number
  /** Rows that stayed as they were. */
  readonly unchanged: number
}

/** What a config sync did, or would do. */
export interface SyncReport {
  /** What became of endpoints. */
  readonly endpoints: SyncCounts
  /** What became of sources. */
  readonly sources: SyncCounts
  /** What became of plugins. */
  readonly plugins: SyncCounts
  /** What the sync left out of the document, the first hundred entries. Missing where it left out nothing. */
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
