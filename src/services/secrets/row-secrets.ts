import type { Clock } from '../../contracts/clock.ts'
import type { Logger } from '../../contracts/observer.ts'
import type { Platform } from '../../contracts/platform.ts'
import type { PluginRegistry } from '../../contracts/plugin.ts'
import type { Page } from '../../contracts/storage/list.ts'
import type { Storage } from '../../contracts/storage.ts'
import type { Settings } from '../../options.ts'
import type { KnownRow, Noun, SealedRows } from './sealed-rows.ts'

/** Headers that are secret where the option `secrets` is set and `deliver.secretHeaders` is not. */
const defaultSecretHeaders = ['x-auth-token', 'api-key', 'x-signature-key', 'proxy-authorization']

export interface RowSecretsNeeds {
  readonly storage: Storage
  readonly plugins: PluginRegistry
  readonly platform: Platform
  readonly clock: Clock
  /** For what may come again and again. */
  readonly log: Logger
}

interface Row {
  readonly id: string
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
  /** The code that seals and opens. */
  readonly rows: () => Promise<SealedRows>
  /** The same secrets over another storage: that of a host's transaction. */
  over(storage: Storage): RowSecrets
  /** A row with its secrets in clear, for use. @throws UnopenedError */
  opened<R extends Row>(workspaceId: string, noun: Noun, row: R): Promise<R>
  /** The same, where values that cannot be opened stay sealed. */
  readable<R extends Row>(workspaceId: string, noun: Noun, row: R): Promise<R>
  /** As reads show it. */
  masked<R extends Row>(workspaceId: string, noun: Noun, row: R): Promise<R>
  maskedPage<R extends Row>(workspaceId: string, noun: Noun, page: Page<R>): Promise<Page<R>>
  /** As it is stored. `before` is the row that this one replaces. */
  sealed<R extends Row>(workspaceId: string, noun: Noun, row: R, before?: KnownRow<R>): Promise<R>
  /**
   * An input whose masks and sealed texts are replaced by what they mean. `known` is the row that the input changes.
   * @throws PosthornError `validation`
   */
  given(workspaceId: string, noun: Noun, input: unknown, known: KnownRow | null): Promise<unknown>
}

export function rowSecrets(needs: RowSecretsNeeds, { secrets, deliver }: Settings): RowSecrets {
  const own = deliver.secretHeaders ?? (secrets === undefined ? [] : defaultSecretHeaders)
  const headers = new Set([...deliver.redactHeaders, ...own].map((name) => name.toLowerCase()))
  let loading: Promise<SealedRows> | undefined
  const load = async () => (await import('./sealed-rows.ts')).sealedRows(needs, headers, secrets)
  return over(secrets !== undefined, headers, () => (loading ??= load()))
}

function over(seals: boolean, headers: ReadonlySet<string>, rows: () => Promise<SealedRows>): RowSecrets {
  return {
    seals,
    headers,
    rows,
    over: (storage) => over(seals, headers, async () => (await rows()).over(storage)),
    opened: async (workspaceId, noun, row) =>
      holdsSealed(row) ? await (await rows()).opened(workspaceId, noun, row) : row,
    readable: async (workspaceId, noun, row) => (seals ? await (await rows()).readable(workspaceId, noun, row) : row),
    masked: async (workspaceId, noun, row) => (seals ? await (await rows()).masked(workspaceId, noun, row) : row),
    async maskedPage(workspaceId, noun, page) {
      if (!seals) return page
      const all = await rows()
      return { ...page, rows: await Promise.all(page.rows.map((row) => all.masked(workspaceId, noun, row))) }
    },
    sealed: async (workspaceId, noun, row, before) =>
      seals ? await (await rows()).sealed(workspaceId, noun, row, before) : row,
    async given(workspaceId, noun, input, known) {
      if (!seals) return input
      const { givenInput } = await import('./given-secrets.ts')
      return await givenInput(await rows(), workspaceId, noun, input, known)
    },
  }
}

/** Whether a value may hold a sealed text. */
export function holdsSealed(value: unknown): boolean {
  return JSON.stringify(value).includes('"sealed:v1:')
}
