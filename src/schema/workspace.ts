import { object, orNull, readOnly, text, withDefault } from './fields.ts'
import { description, id, metadata, type Metadata, type Millis } from './shared.ts'

export const workspaceInput = object({
  id: orNull(id),
  name: orNull(text({ max: 512 })),
  description: orNull(description),
  metadata: withDefault(metadata, {}),
  created_at: readOnly(),
  updated_at: readOnly(),
})

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
}

/** What makes sure of a workspace: its id, and the name that it gets where it is new. */
export const ensureWorkspaceInput = object({ id, name: orNull(text({ max: 512 })) })

/** The workspace that must be there. */
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
}
