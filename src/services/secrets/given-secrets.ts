import type { KnownRow, Noun } from '../../contracts/row-secrets.ts'
import { isMask, maskOfSealed } from '../../core/mask.ts'
import { boundTo, isSealed } from '../../core/sealed.ts'
import { type SecretPlace, withTexts } from '../../core/secret-places.ts'
import { refusalAt } from '../../schema/parse.ts'
import { type KnownText, type SealedRows, shown } from './sealed-rows.ts'
import { UnopenedError } from './unopened-error.ts'

/** Why a text cannot stand for a secret, and where. */
export interface Refusal {
  readonly message: string
  readonly path: readonly (string | number)[]
}

const unknownMask = 'value is a mask that fits no stored secret: write the secret itself'
const ambiguousMask = 'value is a mask that fits several stored secrets: write the secret itself'
const foreign = 'the sealed value was made for another place, or is damaged'

/**
 * An input in which masks and sealed texts are replaced by the secrets that they mean, with the reasons why some mean none.
 * A mask means the secret of `known`, the row that the input changes, that is shown so. A sealed text opens in the row and
 * field for which it was made. A secret that cannot be opened stays sealed, and is stored as it was.
 */
export async function givenSecrets<Input>(
  secrets: SealedRows,
  workspaceId: string,
  noun: Noun,
  input: Input,
  meant: { readonly id: string | null; readonly name?: string; readonly known: KnownRow | null },
): Promise<{ readonly input: Input; readonly refusals: readonly Refusal[] }> {
  if (secrets.vault === null) return { input, refusals: [] }
  const places = secrets.placesOf(noun, input, meant.name)
  const special = places.filter(({ text, named }) => isSealed(text) || (named && isMask(text)))
  if (special.length === 0) return { input, refusals: [] }
  const known = meant.known === null ? [] : secrets.known(noun, meant.known)
  const texts: { path: SecretPlace['path']; text: string }[] = []
  const refusals: Refusal[] = []
  for (const place of special) {
    const own = known.filter(({ field }) => field === place.field)
    const found = isSealed(place.text)
      ? await unsealed(secrets, workspaceId, noun, meant.id, place, own)
      : unmasked(place, own)
    if ('text' in found) texts.push({ path: place.path, text: found.text })
    else refusals.push({ path: place.path, message: found.refused })
  }
  return { input: withTexts(input, texts), refusals }
}

/** The same for the input of a create or an update. @throws PosthornError `validation` */
export async function givenInput(
  secrets: SealedRows,
  workspaceId: string,
  noun: Noun,
  input: unknown,
  known: KnownRow | null,
): Promise<unknown> {
  // What is stored is a row, or of a plugin the entry with its kind as `name`.
  const stored = (known?.stored ?? {}) as { readonly id?: string; readonly name?: string }
  const { id } = (input ?? {}) as { readonly id?: unknown } // of whatever was given
  const meant = { id: stored.id ?? (typeof id === 'string' ? id : null), name: stored.name ?? '', known }
  const read = await givenSecrets(secrets, workspaceId, noun, input, meant)
  if (read.refusals.length > 0) throw refusalAt(read.refusals)
  return read.input
}

type Found = { readonly text: string } | { readonly refused: string }

function unmasked({ text, path }: SecretPlace, known: readonly KnownText[]): Found {
  const fitting = known.filter((each) => shown(each.text) === text || fitsSealed(text, each))
  const here = fitting.find((each) => JSON.stringify(each.path) === JSON.stringify(path))
  const [first] = fitting
  if (here !== undefined) return { text: here.text }
  if (first === undefined) return { refused: unknownMask }
  return fitting.every((each) => each.text === first.text) ? { text: first.text } : { refused: ambiguousMask }
}

/** A mask may come from a process, or a time, in which the value could not be opened. */
function fitsSealed(mask: string, { stored }: KnownText): boolean {
  return isSealed(stored) && maskOfSealed(stored) === mask
}

async function unsealed(
  secrets: SealedRows,
  workspaceId: string,
  noun: Noun,
  rowId: string | null,
  { text, field }: SecretPlace,
  known: readonly KnownText[],
): Promise<Found> {
  const same = known.find(({ stored }) => stored === text)
  if (same !== undefined) return { text: same.text }
  if (rowId === null) return { refused: foreign }
  try {
    return { text: await secrets.open(workspaceId, boundTo({ workspaceId, noun, rowId, field }), text) }
  } catch (cause) {
    if (cause instanceof UnopenedError && cause.lasts) return { refused: cause.message }
    throw cause
  }
}
