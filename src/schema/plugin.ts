import * as v from 'valibot'

import { anyObject, flag, object, orNull, readOnly, text, withDefault } from './fields.ts'
import type { BuiltInPlugins } from './plugin-configs.ts'
import { id, metadata, type Metadata, type Millis } from './shared.ts'

const entries = {
  id: orNull(id),
  // A missing name is answered as an unknown name, by the check that knows the names.
  name: v.optional(text(), ''),
  enabled: withDefault(flag(), true),
  endpoint_id: orNull(text()),
  source_id: orNull(text()),
  config: withDefault(anyObject(), {}),
  metadata: withDefault(metadata, {}),
  created_at: readOnly(),
  updated_at: readOnly(),
}

export const pluginInput = object(entries)

/** What a client may write of a plugin in the config document, where the owner is the entry around it. */
export const pluginEntries = entries

/** Plugins of any name with any config. */
export type AnyPlugins = Readonly<Record<string, object>>

/** What a client may write of every plugin, whatever the kind. Null stands for the default. */
export interface PluginFields<Name extends string = string> {
  /** 1 to 64 of `A-Z a-z 0-9 _ : -`. Default: a new id, which sorts by time. An update ignores the id. */
  readonly id?: string | null | undefined
  /** The kind, such as `hmac-auth`. An owner has at most one plugin of a kind. */
  readonly name: Name
  /** Whether the plugin runs. Default true. */
  readonly enabled?: boolean | null | undefined
  /** Id of the endpoint whose deliveries the plugin works on. A kind for sources takes none. */
  readonly endpoint_id?: string | null | undefined
  /** Id of the source whose requests the plugin works on. A kind for endpoints takes none. */
  readonly source_id?: string | null | undefined
  /** Pairs of text for the host's own use: at most 100, keys up to 128 code points, values up to 4096. Default `{}`. */
  readonly metadata?: Metadata | null | undefined
  /** Ignored: Posthorn sets this time. */
  readonly created_at?: number | null | undefined
  /** Ignored: Posthorn sets this time. */
  readonly updated_at?: number | null | undefined
}

/** What a client may write of a plugin whose config may be left out. */
export interface PluginWithDefaults<Name extends string, Config> extends PluginFields<Name> {
  /** The settings of the plugin. Default: those of the kind. */
  readonly config?: Config | null | undefined
}

/** What a client may write of a plugin whose config is needed. */
export interface PluginWithConfig<Name extends string, Config> extends PluginFields<Name> {
  /** The settings of the plugin. */
  readonly config: Config
}

type PluginOf<Name extends string, Config> =
  Partial<Config> extends Config ? PluginWithDefaults<Name, Config> : PluginWithConfig<Name, Config>

/** What a client may write of a plugin. `name` is the kind and decides the type of `config`. */
export type PluginInput<Kinds extends object = BuiltInPlugins> = string extends keyof Kinds
  ? PluginWithDefaults<string, object>
  : { [Name in keyof Kinds & string]: PluginOf<Name, Kinds[Name]> }[keyof Kinds & string]

/** A configurable component attached to one endpoint or one source. */
export interface Plugin {
  /** 1 to 64 of `A-Z a-z 0-9 _ : -`. */
  readonly id: string
  /** The kind, such as `hmac-auth`. An owner has at most one plugin of a kind. */
  readonly name: string
  /** Whether the plugin runs. */
  readonly enabled: boolean
  /** Id of the endpoint whose deliveries the plugin works on; null for a plugin of a source. */
  readonly endpoint_id: string | null
  /** Id of the source whose requests the plugin works on; null for a plugin of an endpoint. */
  readonly source_id: string | null
  /** The settings of the plugin, complete. Secrets are masks where the option `secrets` is set. */
  readonly config: Readonly<Record<string, unknown>>
  /** Pairs of text for the host's own use. */
  readonly metadata: Metadata
  /** When the row was made, unix milliseconds. */
  readonly created_at: Millis
  /** When the row last changed, unix milliseconds. */
  readonly updated_at: Millis
}
