import type { Page } from './storage/list.ts'
import type { Storage } from './storage.ts'

/** The kinds of rows that may hold secrets. */
export type Noun = 'endpoints' | 'sources' | 'plugins'

interface Row {
  readonly id: string
}

/** A row as it is stored, and with its secrets opened where that is possible. */
export interface KnownRow<R = unknown> {
  readonly stored: R
  readonly readable: R
}

/**
 * The secrets in rows of configuration, as services need them. Without the option `secrets` rows stay as they are, and the code
 * that seals is not loaded; but a value that was sealed before is still refused where it would be used.
 */
export interface RowSecrets {
  /** Whether values are sealed when they are written, and masked when they are read. */
  readonly seals: boolean
  /** Names of headers whose values are secret, in lower case. */
  readonly headers: ReadonlySet<string>
  /** The same secrets over another storage: that of a host's transaction. */
  over(storage: Storage): RowSecrets
  /** A row with its secrets in clear text, for use. @throws UnopenedError */
  opened<R extends Row>(workspaceId: string, noun: Noun, row: R): Promise<R>
  /** The same, where values that cannot be opened stay sealed. */
  readable<R extends Row>(workspaceId: string, noun: Noun, row: R): Promise<R>
  /** As reads show it. */
  masked<R extends Row>(workspaceId: string, noun: Noun, row: R): Promise<R>
  maskedPage<R extends Row>(workspaceId: string, noun: Noun, page: Page<R>): Promise<Page<R>>
  /** As it is stored. `before` is the row that this row replaces. */
  sealed<R extends Row>(workspaceId: string, noun: Noun, row: R, before?: KnownRow<R>): Promise<R>
  /**
   * An input whose masks and sealed texts are replaced by what they mean. `known` is the row that the input changes.
   * @throws PosthornError `validation`
   */
  given(workspaceId: string, noun: Noun, input: unknown, known: KnownRow | null): Promise<unknown>
}
