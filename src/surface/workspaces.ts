import type { CursorPage, OffsetPage } from '../schema/page.ts'
import type { EnsureWorkspaceInput, Workspace, WorkspaceInput } from '../schema/workspace.ts'
import type { CursorQuery, NamedListInput, OffsetQuery, PageOf } from './lists.ts'
import type { MergePatch } from './resource.ts'

/** Workspaces: namespaces of endpoints, sources, plugins, events and attempts. The workspace `default` always exists. */
export interface WorkspaceService {
  /**
   * Lists workspaces, the newest first unless `sort` says otherwise.
   * With `limit`, `after` or `before` in the query the answer is a cursor page, else an offset page with `total`.
   * @throws PosthornError validation
   */
  list(query: CursorQuery<NamedListInput>): Promise<CursorPage<Workspace>>
  list(query?: OffsetQuery<NamedListInput>): Promise<OffsetPage<Workspace>>
  list(query?: NamedListInput): Promise<PageOf<Workspace>>
  /** Iterates over all workspaces, read page by page (100 rows, or `limit`) while they are taken. */
  each(query?: NamedListInput): AsyncIterable<Workspace>
  /**
   * Creates a workspace.
   * @throws PosthornError validation, unique_violation (another workspace has the id or the name)
   * @example await posthorn.workspaces.create({ id: 'acme', name: 'Acme Corp.' })
   */
  create(input: WorkspaceInput): Promise<Workspace>
  /**
   * Creates the workspace with this id, or answers the existing workspace, as it is. Of many callers at once a single caller creates it.
   * @throws PosthornError validation, unique_violation (another workspace has the name)
   * @example await posthorn.workspaces.ensure({ id: customer.id })
   */
  ensure(input: EnsureWorkspaceInput): Promise<Workspace>
  /** Reads one workspace. @throws PosthornError not_found */
  get(id: string): Promise<Workspace>
  /**
   * Changes a workspace by a shallow merge: an absent key keeps its value, a present key replaces the whole value.
   * @throws PosthornError not_found, validation, unique_violation
   */
  update(id: string, input: Partial<WorkspaceInput>): Promise<Workspace>
  /**
   * Changes a workspace by a JSON merge patch (RFC 7396): members of objects are merged at any depth, null removes a
   * member, which then has its default, and lists are replaced whole. When several patches come at the same moment,
   * each takes effect.
   * @throws PosthornError not_found, validation, unique_violation, overloaded (too many writers at once)
   * @example await posthorn.workspaces.patch('acme', { limits: { events_per_second: 50 } })
   */
  patch(id: string, patch: MergePatch<WorkspaceInput>): Promise<Workspace>
  /**
   * Deletes a workspace with all its rows. An id that does not exist is no error. @throws PosthornError validation
   * (`default`)
   */
  delete(id: string): Promise<void>
}
