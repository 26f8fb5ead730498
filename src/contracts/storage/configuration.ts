import type { Endpoint } from '../../schema/endpoint.ts'
import type { Plugin } from '../../schema/plugin.ts'
import type { Source } from '../../schema/source.ts'
import type { Workspace } from '../../schema/workspace.ts'
import type { ListQuery, Page, SizedQuery } from './list.ts'

export type Change = { readonly workspaceId: string } | 'routes' | 'everything'

/** A row that cannot stand. `key` is as messages show it, in order: `{ ws_id: 'default', name: 'orders' }`. */
export type Violation =
  | { readonly kind: 'unique'; readonly key: Readonly<Record<string, string>> }
  | {
      readonly kind: 'foreign_key'
      readonly key: Readonly<Record<string, string>>
      readonly references: 'endpoints' | 'sources'
    }
  /** The workspace would have more than `most` of these. */
  | { readonly kind: 'full'; readonly of: keyof Bounds; readonly max: number }

/** The most rows of each kind that a workspace may have, and the most event patterns of all its endpoints together. */
export interface Bounds {
  readonly endpoints: number
  readonly sources: number
  readonly plugins: number
  readonly patterns: number
}

/** A row with the workspace's revision at which it was last written. */
export interface Stored<Row> {
  readonly row: Row
  readonly revision: number
}

/** `missing`: the row, or the workspace around it, does not exist. `conflict`: somebody wrote the row meanwhile. */
export type Inserted = 'written' | 'missing' | Violation

export type Updated = 'written' | 'missing' | 'conflict' | Violation

export interface Workspaces {
  /** Refuses an id or name that is another workspace's id or name: `{ id }` or `{ name }`, id first. Never 'missing'. */
  insert(row: Workspace): Promise<Inserted>
  get(id: string): Promise<Stored<Workspace> | null>
  /** The workspace with that id, else the workspace with that name. */
  find(idOrName: string): Promise<Stored<Workspace> | null>
  list(query: SizedQuery): Promise<Page<Workspace>>
  update(row: Workspace, from: number): Promise<Updated>
  /**
   * Afterwards the workspace and its configuration are gone, its events and attempts are unreadable, and its open
   * attempts are closed.
   */
  delete(id: string): Promise<boolean>
}

/**
 * Configuration rows of a workspace. Violations: `{ id }` (any workspace's row of this kind), `{ ws_id, name }` where
 * name is not null, for plugins `{ endpoint_id, name }` or `{ source_id, name }`, for enabled sources `{ method, path
 * }`; a plugin's owner must be a row of the same workspace. Deleting an owner deletes its plugins. `bounds` hold
 * whoever writes at the same moment. To judge them costs the same, however many rows the workspace has.
 */
export interface Collection<Row, Query extends ListQuery> {
  insert(workspaceId: string, row: Row, bounds?: Bounds): Promise<Inserted>
  get(workspaceId: string, id: string): Promise<Stored<Row> | null>
  list(workspaceId: string, query: Query): Promise<Page<Row>>
  /** Replaces the row with that id if it was last written at revision `from`. */
  update(workspaceId: string, row: Row, from: number, bounds?: Bounds): Promise<Updated>
  delete(workspaceId: string, id: string): Promise<boolean>
}

export interface OwnedQuery extends SizedQuery {
  readonly enabled?: boolean
}

export interface PluginQuery extends OwnedQuery {
  readonly endpoint_id?: string
  readonly source_id?: string
}

export interface Configuration {
  readonly workspace: Workspace
  readonly revision: number
  readonly endpoints: readonly Stored<Endpoint>[]
  readonly sources: readonly Stored<Source>[]
  readonly plugins: readonly Stored<Plugin>[]
}

/**
 * A configuration for who knows an earlier revision of it: of endpoints, sources and plugins only rows that were written
 * after that revision.
 */
export interface ConfigurationSince extends Configuration {
  /** The ids of all rows of the workspace, in the order of a whole configuration. */
  readonly ids: Readonly<Record<'endpoints' | 'sources' | 'plugins', readonly string[]>>
}

/** What a request asks for: an exact path, and one of the methods of a source. */
export interface RouteKey {
  readonly path: string
  readonly method: string
}

/** The enabled source that serves a path and a method. */
export interface Route {
  readonly workspaceId: string
  readonly sourceId: string
}

/**
 * Rows to insert or replace, and ids to delete, of one workspace. Rules are judged on the state after the whole plan.
 */
export interface ConfigPlan {
  readonly workspaceId: string
  readonly endpoints: { readonly put: readonly Endpoint[]; readonly remove: readonly string[] }
  readonly sources: { readonly put: readonly Source[]; readonly remove: readonly string[] }
  readonly plugins: { readonly put: readonly Plugin[]; readonly remove: readonly string[] }
  /** Default: none. */
  readonly bounds?: Bounds | undefined
}
