import type { EndpointInput } from './endpoint.ts'
import type { PluginInput } from './plugin.ts'
import type { SourceInput } from './source.ts'

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
