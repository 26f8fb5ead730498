import { identify } from '../../core/config-plan.ts'
import type { KnownRow, Noun } from '../../contracts/row-secrets.ts'
import type { Configuration } from '../../contracts/storage/configuration.ts'
import { eachInSlices } from '../../runtime/slices.ts'
import { isPlainObject } from '../../schema/fields.ts'
import { refusalAt } from '../../schema/parse.ts'
import type { Plugin } from '../../schema/plugin.ts'
import { givenSecrets, type Refusal } from './given-secrets.ts'
import type { SealedRows } from './sealed-rows.ts'

type Fields = Readonly<Record<string, unknown>>
interface Named {
  readonly id: string
  readonly name: string | null
}

/**
 * A config document in which masks and sealed texts are replaced by the secrets that they mean. It is not parsed yet: what
 * has another form than a document stays as it is, for the schema to refuse. @throws PosthornError `validation`
 */
export async function givenDocument(
  secrets: SealedRows,
  document: unknown,
  stored: Configuration,
  readable: Configuration,
): Promise<unknown> {
  if (!isPlainObject(document)) return document
  const whole: Fields = document
  const workspaceId = stored.workspace.id
  const refusals: Refusal[] = []

  async function given(noun: Noun, entry: Fields, path: Refusal['path'], known: KnownRow<Named> | null) {
    const meant = { id: known?.stored.id ?? idOf(entry), known }
    const read = await givenSecrets(secrets, workspaceId, noun, entry, meant)
    refusals.push(...read.refusals.map(({ message, path: below }) => ({ message, path: [...path, ...below] })))
    return read.input
  }

  async function owners(noun: 'endpoints' | 'sources'): Promise<unknown> {
    const entries: unknown = whole[noun]
    if (!Array.isArray(entries) || !entries.every(isPlainObject)) return entries
    const rows = new Map(knownRows<Named>(stored[noun], readable[noun]).map((row) => [row.stored, row]))
    const { meant } = identify(
      [...rows.keys()],
      entries.map((entry) => ({ id: idOf(entry), name: textOf(entry['name']) })),
    )
    return await eachInSlices(secrets.clock, entries, async (entry, i) => {
      const row = meant[i] ?? null
      const read = await given(noun, entry, [noun, i], (row && rows.get(row)) ?? null)
      return await withPlugins(read, row?.id ?? null, [noun, i])
    })
  }

  const plugins = new Map(
    knownRows(stored.plugins, readable.plugins).map((known) => [
      pluginKey(ownerOf(known.stored), known.stored.name),
      known,
    ]),
  )

  async function withPlugins(entry: Fields, ownerId: string | null, path: Refusal['path']): Promise<Fields> {
    const entries: unknown = entry['plugins']
    if (!Array.isArray(entries)) return entry
    const read = entries.map(async (plugin: unknown, i) => {
      if (!isPlainObject(plugin)) return plugin
      const known = plugins.get(pluginKey(ownerId, plugin['name'])) ?? null
      return await given('plugins', plugin, [...path, 'plugins', i], known)
    })
    return { ...entry, plugins: await Promise.all(read) }
  }

  const read = {
    ...document,
    ...(Object.hasOwn(document, 'endpoints') && { endpoints: await owners('endpoints') }),
    ...(Object.hasOwn(document, 'sources') && { sources: await owners('sources') }),
  }
  if (refusals.length > 0) throw refusalAt(refusals)
  return read
}

function ownerOf({ endpoint_id, source_id }: Plugin): string | null {
  return endpoint_id ?? source_id
}

function pluginKey(ownerId: string | null, name: unknown): string {
  return JSON.stringify([ownerId, name])
}

function knownRows<Row extends Named>(
  stored: readonly { readonly row: Row }[],
  readable: readonly { readonly row: Row }[],
): readonly KnownRow<Row>[] {
  return stored.map(({ row }, i) => ({ stored: row, readable: readable[i]!.row })) // the same rows
}

/** The id of an entry as the schema reads it: spaces at its end are cut off. */
function idOf(entry: Fields): string | null {
  return textOf(entry['id'])?.replace(/ +$/, '') ?? null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
