import type { ListInput } from '../schema/page.ts'
import type { Listed } from './lists.ts'

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
  /** Deletes a row. An id that is not there is no error. @throws PosthornError unknown_workspace */
  delete(workspace: string, id: string): Promise<void>
}
