import type { PluginKind, PluginRegistry } from '../../contracts/plugin.ts'
import type { KnownRow, Noun } from '../../contracts/row-secrets.ts'
import type { ConfigPlan, Configuration } from '../../contracts/storage/configuration.ts'
import type { Storage } from '../../contracts/storage.ts'
import { maskOf, maskOfSealed } from '../../core/mask.ts'
import { boundTo, isSealed, readSealed } from '../../core/sealed.ts'
import { configSecrets, headerSecrets, type SecretPlace, withTexts } from '../../core/secret-places.ts'
import type { FieldErrors } from '../../errors.ts'
import type { SecretsOptions } from '../../options.ts'
import { eachInSlices, type SliceClock } from '../../runtime/slices.ts'
import { isPlainObject } from '../../schema/fields.ts'
import { refusalAt } from '../../schema/parse.ts'
import type { RowSecretsNeeds } from './needs.ts'
import { UnopenedError } from './unopened-error.ts'
import { missingKey, vault, type Vault } from './vault.ts'

interface Row {
  readonly id: string
}

/** A secret in clear text, beside its stored form. */
export interface KnownText extends SecretPlace {
  readonly stored: string
}

interface Needs {
  readonly storage: Storage
  readonly plugins: PluginRegistry
  readonly clock: SliceClock
  /** Names in lower case. */
  readonly secretHeaders: ReadonlySet<string>
  /** Null without the option `secrets`. */
  readonly vault: Vault | null
}

export function sealedRows(
  needs: RowSecretsNeeds,
  secretHeaders: ReadonlySet<string>,
  options: SecretsOptions | undefined,
): SealedRows {
  return new SealedRows({ ...needs, secretHeaders, vault: options === undefined ? null : vault(needs, options) })
}

/** Seals, opens and masks the secrets in rows of configuration. */
export class SealedRows {
  readonly #needs: Needs

  constructor(needs: Needs) {
    this.#needs = needs
  }

  get vault(): Vault | null {
    return this.#needs.vault
  }

  /** For work on thousands of rows, which is done in slices. */
  get clock(): SliceClock {
    return this.#needs.clock
  }

  /** The same secrets, whose data keys are looked for in another storage: that of a host's transaction. */
  over(storage: Storage): SealedRows {
    return new SealedRows({ ...this.#needs, storage })
  }

  /** Secret texts of a row or of an input. `name`: the kind of a plugin whose input names none. */
  placesOf(noun: Noun, row: unknown, name?: string): readonly SecretPlace[] {
    if (!isPlainObject(row) || noun === 'sources') return []
    if (noun === 'endpoints') return headerSecrets(row['request'], this.#needs.secretHeaders)
    const given = row['name'] ?? name
    const kind = typeof given === 'string' ? this.#needs.plugins.get(given) : undefined
    return configSecrets(row['config'], kind?.secrets ?? [])
  }

  /** A row with its secrets in clear text, for use. @throws UnopenedError */
  async opened<R extends Row>(workspaceId: string, noun: Noun, row: R): Promise<R> {
    const sealed = this.placesOf(noun, row).filter(({ text }) => isSealed(text))
    if (sealed.length === 0) return row
    return withTexts(row, await Promise.all(sealed.map((place) => this.#opened(workspaceId, noun, row.id, place))))
  }

  /** The same, where values that cannot be opened stay sealed. */
  async readable<R extends Row>(workspaceId: string, noun: Noun, row: R): Promise<R> {
    if (this.vault === null) return row
    const sealed = this.placesOf(noun, row).filter(({ text }) => isSealed(text))
    if (sealed.length === 0) return row
    const open = (place: SecretPlace) =>
      this.#opened(workspaceId, noun, row.id, place).catch((cause: unknown) => {
        if (cause instanceof UnopenedError) return place
        throw cause
      })
    return withTexts(row, await Promise.all(sealed.map(open)))
  }

  /** A row as reads show it. */
  async masked<R extends Row>(workspaceId: string, noun: Noun, row: R): Promise<R> {
    if (this.vault === null) return row
    const places = this.placesOf(noun, row)
    if (places.length === 0) return row
    const readable = await this.readable(workspaceId, noun, row)
    return withTexts(
      readable,
      textsAt(readable, places).map(({ path, text }) => ({ path, text: shown(text) })),
    )
  }

  /**
   * A row as it is stored. A secret that the row had before keeps its sealed form; so does a secret that cannot be opened.
   * `before` is the row that this row replaces.
   */
  async sealed<R extends Row>(workspaceId: string, noun: Noun, row: R, before?: KnownRow): Promise<R> {
    const { vault } = this
    if (vault === null) return row
    const kept = before === undefined ? [] : this.known(noun, before)
    const places = this.placesOf(noun, row)
    const named = new Set(places.map(({ path }) => JSON.stringify(path)))
    // A text that was sealed is sealed again, although this process may not know the plugin's kind.
    const others = kept.filter(({ path, stored }) => isSealed(stored) && !named.has(JSON.stringify(path)))
    const all = [...places, ...textsAt(row, others)]
    const texts = await Promise.all(
      all.map(async ({ path, field, text }) => {
        if (isSealed(text)) return { path, text }
        const same = kept.find((old) => old.field === field && old.text === text && isSealed(old.stored))
        if (same !== undefined) return { path, text: same.stored }
        const bound = boundTo({ workspaceId, noun, rowId: row.id, field })
        return { path, text: await vault.seal(workspaceId, bound, text, () => this.#sealedTexts(workspaceId)) }
      }),
    )
    return withTexts(row, texts)
  }

  /** The refusal of a config that changes beside a secret which this process cannot open, or null. */
  unopenedProblems({ secrets: names = [] }: PluginKind, config: unknown): FieldErrors | null {
    const sealed = configSecrets(config, names).filter(({ text }) => isSealed(text))
    if (sealed.length === 0) return null
    const reasons = sealed.map(({ path, text }) => ({
      path: path.slice(1),
      message: `the stored secret cannot be opened: it is sealed with key '${readSealed(text)?.keyId}'`,
    }))
    return refusalAt(reasons).fields ?? null
  }

  /** A row whose secrets at these places are sealed with the key that seals now. @throws UnopenedError */
  async sealedAnew<R extends Row>(workspaceId: string, noun: Noun, row: R, places: readonly SecretPlace[]): Promise<R> {
    const { vault } = this
    if (vault === null) return row
    const texts = places.map(async ({ path, field, text }) => {
      const bound = boundTo({ workspaceId, noun, rowId: row.id, field })
      const clear = isSealed(text) ? await vault.open(workspaceId, bound, text) : text
      return { path, text: await vault.seal(workspaceId, bound, clear, () => this.#sealedTexts(workspaceId)) }
    })
    return withTexts(row, await Promise.all(texts))
  }

  /** `readable` for all rows of a workspace. */
  async readableConfiguration(current: Configuration): Promise<Configuration> {
    if (this.vault === null) return current
    const all = <R extends Row>(noun: Noun, rows: readonly { readonly row: R; readonly revision: number }[]) =>
      eachInSlices(this.clock, rows, async (stored) => ({
        ...stored,
        row: await this.readable(current.workspace.id, noun, stored.row),
      }))
    const [endpoints, plugins] = await Promise.all([
      all('endpoints', current.endpoints),
      all('plugins', current.plugins),
    ])
    return { ...current, endpoints, plugins }
  }

  /** `sealed` for all rows that a plan puts. */
  async sealedPlan<Plan extends ConfigPlan>(plan: Plan, stored: Configuration, readable: Configuration): Promise<Plan> {
    if (this.vault === null) return plan
    const put = async <R extends Row>(noun: 'endpoints' | 'plugins', rows: readonly R[]) => {
      const before = new Map<string, KnownRow>(
        stored[noun].map(({ row }, i) => [row.id, { stored: row, readable: readable[noun][i]!.row }]), // the same rows
      )
      return await eachInSlices(this.clock, rows, (row) => this.sealed(plan.workspaceId, noun, row, before.get(row.id)))
    }
    return {
      ...plan,
      endpoints: { ...plan.endpoints, put: await put('endpoints', plan.endpoints.put) },
      plugins: { ...plan.plugins, put: await put('plugins', plan.plugins.put) },
    }
  }

  async #opened(workspaceId: string, noun: Noun, rowId: string, { path, field, text }: SecretPlace) {
    const bound = boundTo({ workspaceId, noun, rowId, field })
    return { path, text: await this.open(workspaceId, bound, text) }
  }

  /** @throws UnopenedError */
  async open(workspaceId: string, bound: Uint8Array, text: string): Promise<string> {
    const { vault } = this
    if (vault === null) throw missingKey(/^sealed:v1:([^:]*)/.exec(text)?.[1] ?? '')
    return await vault.open(workspaceId, bound, text)
  }

  /** The secrets of a known row, as they can be read and as they are stored. */
  known(noun: Noun, { stored, readable }: KnownRow): readonly KnownText[] {
    const places = this.placesOf(noun, stored)
    return textsAt(readable, places).map((place, i) => ({ ...place, stored: places[i]!.text })) // the same places
  }

  async #sealedTexts(workspaceId: string): Promise<readonly string[]> {
    const current = await this.#needs.storage.configuration(workspaceId)
    if (current === null) return []
    const texts = (noun: Noun, rows: readonly { readonly row: Row }[]) =>
      rows.flatMap(({ row }) => this.placesOf(noun, row).map(({ text }) => text))
    return [...texts('plugins', current.plugins), ...texts('endpoints', current.endpoints)].filter(isSealed)
  }
}

/** The mask of a text that may be sealed still. */
export function shown(text: string): string {
  return isSealed(text) ? maskOfSealed(text) : maskOf(text)
}

/** The texts at these places in another row; places without a text are left out. */
function textsAt<Place extends SecretPlace>(row: unknown, places: readonly Place[]): Place[] {
  return places.flatMap((place) => {
    const text = place.path.reduce<unknown>(
      (value, key) => (typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : null),
      row,
    )
    return typeof text === 'string' ? [{ ...place, text }] : []
  })
}
