import type { ListInput } from '../schema/page.ts'
import type { Listed } from './lists.ts'

/** A JSON merge patch of what a client may write (RFC 7396). */
export type MergePatch<Input> = { readonly [Name in keyof Input]?: PatchOf<Input[Name]> | null }

/**
 * Lists are replaced whole. This condition stands outside `MergePatch`, so that an editor shows the name `MergePatch`.
 */
type PatchOf<Value> = Value extends readonly unknown[] ? Value : Value extends object ? MergePatch<Value> : Value

/** Create, read, update and delete of one kind of configuration row. `workspace` is an id or a name. */
export interface ResourceService<Row, Input, Query extends ListInput> extends Listed<Row, Query> {
  /**
   * Creates a row. It takes effect in every process with the answer.
   * @throws PosthornError validation, unknown_workspace, unique_violation, foreign_key_violation
   */
  create(workspace: string, input: Input): Promise<Row>
  /** Reads one row. @throws PosthornError not_found, unknown_workspace */
  get(workspace: string, id: string): Promise<Row>
  /**
   * Changes a row by a shallow merge: an absent key keeps its value, a present key replaces the whole value.
   * @throws PosthornError not_found, validation, unknown_workspace, unique_violation, foreign_key_violation
   */
  update(workspace: string, id: string, input: Partial<Input>): Promise<Row>
  /**
   * Changes a row by a JSON merge patch (RFC 7396): members of objects are merged at any depth, null removes a member,
   * which then has its default, and lists are replaced whole. When several patches come at the same moment, each takes
   * effect.
   * @throws PosthornError not_found, validation, unknown_workspace, unique_violation, overloaded (too many writers at once)
   * @example await posthorn.endpoints.patch('default', endpoint.id, { request: { timeout: 5000 } })
   */
  patch(workspace: string, id: string, patch: MergePatch<Input>): Promise<Row>
  /** Deletes a row. An id that does not exist is no error. @throws PosthornError unknown_workspace */
  delete(workspace: string, id: string): Promise<void>
}
