import { integer, object, orNull, readOnly, text, withDefault } from './fields.ts'
import { description, id, metadata, type Metadata, type Millis } from './shared.ts'

const limits = object({
  events_per_second: orNull(integer({ min: 0, max: 1_000_000 })),
  retention_days: orNull(integer({ min: 1, max: 36_500 })),
  endpoints: orNull(integer({ min: 0 })),
})

export const workspaceInput = object({
  id: orNull(id),
  name: orNull(text({ max: 512 })),
  description: orNull(description),
  metadata: withDefault(metadata, {}),
  created_at: readOnly(),
  updated_at: readOnly(),
  limits: withDefault(limits, {}),
})

/** What a workspace may use, for the plans of a host, as a client writes it. Null: no more is asked than of the whole instance. */
export interface WorkspaceLimitsInput {
  /** Events that are accepted in each second, 0 to 1,000,000; others are refused with 429. Default null: no limit. */
  readonly events_per_second?: number | null | undefined
  /** Events and finished attempts older than this many days are removed, 1 to 36,500. Default null: `retention` of the instance. */
  readonly retention_days?: number | null | undefined
  /** The most endpoints. Default null: `limits.endpoints` of the instance. */
  readonly endpoints?: number | null | undefined
}

/** What a client may write of a workspace. Null stands for the default. */
export interface WorkspaceInput {
  /** 1 to 64 of `A-Z a-z 0-9 _ : -`. Default: a new id, which sorts by time. An update ignores the id. */
  readonly id?: string | null | undefined
  /** Up to 512 code points, unique in the instance when not null. Default null. */
  readonly name?: string | null | undefined
  /** Up to 4096 code points. Default null. */
  readonly description?: string | null | undefined
  /** Pairs of text for the host's own use: at most 100, keys up to 128 code points, values up to 4096. Default `{}`. */
  readonly metadata?: Metadata | null | undefined
  /** Ignored: Posthorn sets this time. */
  readonly created_at?: number | null | undefined
  /** Ignored: Posthorn sets this time. */
  readonly updated_at?: number | null | undefined
  /** What the workspace may use. Default: no limit beyond those of the instance. */
  readonly limits?: WorkspaceLimitsInput | null | undefined
}

/** What makes sure that a workspace exists: the id, and the name for a new workspace. */
export const ensureWorkspaceInput = object({ id, name: orNull(text({ max: 512 })) })

/** The workspace that must exist. */
export interface EnsureWorkspaceInput {
  /** 1 to 64 of `A-Z a-z 0-9 _ : -`. */
  readonly id: string
  /** The name of the workspace where it is created: up to 512 code points, unique in the instance. Default null. */
  readonly name?: string | null | undefined
}

/** A namespace of endpoints, sources, plugins, events and attempts. */
export interface Workspace {
  /** 1 to 64 of `A-Z a-z 0-9 _ : -`. */
  readonly id: string
  /** Unique in the instance when not null. */
  readonly name: string | null
  /** What the workspace is for. */
  readonly description: string | null
  /** Pairs of text for the host's own use. */
  readonly metadata: Metadata
  /** When the row was made, unix milliseconds. */
  readonly created_at: Millis
  /** When the row last changed, unix milliseconds. */
  readonly updated_at: Millis
  /** What the workspace may use, for the plans of a host; a limit that is null leaves those of the instance alone. */
  readonly limits: WorkspaceLimits
}

/** What a workspace may use, for the plans of a host. */
export interface WorkspaceLimits {
  /**
   * Events that are accepted in each second: a burst of n events, then one more event each 1 / n s. More are refused
   * with 429.
   */
  readonly events_per_second: number | null
  /** Events and finished attempts older than this many days are removed. The shorter of this and `retention` of the instance counts. */
  readonly retention_days: number | null
  /** The most endpoints. The lower of this and `limits.endpoints` of the instance counts. */
  readonly endpoints: number | null
}
