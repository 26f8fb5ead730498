import type { Plugin, PluginInput } from '../schema/plugin.ts'
import type { OwnedListInput } from './lists.ts'
import type { ResourceService } from './resource.ts'

/** What the list of plugins can be asked. */
export interface PluginListInput extends OwnedListInput {
  /** Plugins of this endpoint. */
  readonly endpoint_id?: string
  /** Plugins of this source. */
  readonly source_id?: string
}

/** Plugins: components of endpoints and sources. `workspace` is an id or a name. `Input` is what may be written. */
export interface PluginService<Input = PluginInput> extends ResourceService<Plugin, Input, PluginListInput> {}
