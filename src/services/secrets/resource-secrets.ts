import type { Page } from '../../contracts/storage/list.ts'
import { reasonsAt } from '../../schema/parse.ts'
import { givenSecrets } from './given-secrets.ts'
import type { KnownRow, Noun, RowSecrets } from './row-secrets.ts'

/** The secrets of one kind of configuration row, as create, read and update need them. */
export interface ResourceSecrets<Row> {
  readonly readable: (workspaceId: string, row: Row) => Promise<Row>
  readonly masked: (workspaceId: string, row: Row) => Promise<Row>
  readonly maskedPage: (workspaceId: string, page: Page<Row>) => Promise<Page<Row>>
  readonly sealed: (workspaceId: string, row: Row, before?: KnownRow<Row>) => Promise<Row>
  /**
   * An input whose masks and sealed texts are replaced by what they mean. `known` is the row that the input changes.
   * @throws PosthornError `validation`
   */
  given(workspaceId: string, input: unknown, known: KnownRow<Row> | null): Promise<unknown>
}

export function resourceSecrets<Row extends { readonly id: string }>(
  secrets: RowSecrets,
  noun: Noun,
): ResourceSecrets<Row> {
  return {
    readable: (workspaceId, row) => secrets.readable(workspaceId, noun, row),
    masked: (workspaceId, row) => secrets.masked(workspaceId, noun, row),
    async maskedPage(workspaceId, page) {
      if (secrets.vault === null) return page
      return { ...page, rows: await Promise.all(page.rows.map((row) => secrets.masked(workspaceId, noun, row))) }
    },
    sealed: (workspaceId, row, before) => secrets.sealed(workspaceId, noun, row, before),
    async given(workspaceId, input, known) {
      const { name = '' } = (known?.stored ?? {}) as { readonly name?: string } // the kind of a plugin
      const meant = { id: known?.stored.id ?? givenId(input), name, known }
      const read = await givenSecrets(secrets, workspaceId, noun, input, meant)
      if (read.refusals.length > 0) throw reasonsAt(read.refusals)
      return read.input
    },
  }
}

/** The id that the client chose, if it is a text. */
function givenId(input: unknown): string | null {
  const { id } = (input ?? {}) as { readonly id?: unknown } // of whatever was given
  return typeof id === 'string' ? id : null
}
