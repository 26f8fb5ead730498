import { object, orNull, readOnly, text, withDefault } from './fields.ts'
import { description, id, metadata, type Metadata, type Millis, type Input } from './shared.ts'

/** What a client may write of a workspace. */
export const workspaceInput = object({
  id: orNull(id),
  name: orNull(text({ max: 512 })),
  description: orNull(description),
  metadata: withDefault(metadata, {}),
  created_at: readOnly(),
  updated_at: readOnly(),
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
}
