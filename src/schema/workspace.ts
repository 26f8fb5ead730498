import { integer, object, orNull, readOnly, text, withDefault } from './fields.ts'
import { description, id, metadata, type Metadata, type Millis, type Input } from './shared.ts'

/** What a workspace may use, for the plans of a host. Null: no more is asked than of the whole instance. */
const limits = object({
  events_per_second: orNull(integer({ min: 0, max: 1_000_000 })),
  retention_days: orNull(integer({ min: 1, max: 36_500 })),
  endpoints: orNull(integer({ min: 0 })),
})

/** What a client may write of a workspace. */
export const workspaceInput = object({
  id: orNull(id),
  name: orNull(text({ max: 512 })),
  description: orNull(description),
  metadata: withDefault(metadata, {}),
  created_at: readOnly(),
  updated_at: readOnly(),
  limits: withDefault(limits, {}),
})
export type WorkspaceInput = Input<typeof workspaceInput>

/** What makes sure of a workspace: its id, and the name that it gets where it is new. */
export const ensureWorkspaceInput = object({ id, name: orNull(text({ max: 512 })) })
export type EnsureWorkspaceInput = Input<typeof ensureWorkspaceInput>

/** A namespace of endpoints, sources, plugins, events and attempts. */
export interface Workspace {
  readonly id: string
  /** Unique in the instance when not null. */
  readonly name: string | null
  readonly description: string | null
  readonly metadata: Metadata
  readonly created_at: Millis
  readonly updated_at: Millis
  /** What the workspace may use, for the plans of a host; null where the workspace has no limit of its own. */
  readonly limits: WorkspaceLimits
}

export interface WorkspaceLimits {
  /** Events that are accepted in each second: a burst of that many, then one more each 1 / n s. Others are refused with 429. */
  readonly events_per_second: number | null
  /** Events and finished attempts older than this many days are removed. The shorter of this and `retention` of the instance counts. */
  readonly retention_days: number | null
  /** The most endpoints. The lower of this and `limits.endpoints` of the instance counts. */
  readonly endpoints: number | null
}
