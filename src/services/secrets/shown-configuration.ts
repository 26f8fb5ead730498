import type { RowSecrets } from '../../contracts/row-secrets.ts'
import type { Configuration } from '../../contracts/storage/configuration.ts'
import { invalid } from '../../errors.ts'
import { eachInSlices, type SliceClock } from '../../runtime/slices.ts'
import { check } from '../../schema/parse.ts'
import { oneOf } from '../../schema/fields.ts'
import { type ShownAs, shownAs } from '../../schema/secrets.ts'

/**
 * A configuration with its secrets as a dump shows them. @throws PosthornError `validation` for an unknown form;
 * `unavailable` when a secret cannot be opened
 */
export async function shownConfiguration(
  { secrets, clock }: { readonly secrets: RowSecrets; readonly clock: SliceClock },
  current: Configuration,
  asked: ShownAs | undefined,
): Promise<Configuration> {
  const form = asked ?? (!secrets.seals ? 'clear' : 'masked')
  const known = check(oneOf(shownAs), form)
  if (!known.ok) throw invalid({ secrets: known.fields })
  if (!secrets.seals) {
    if (form === 'clear') return current
    throw invalid({ secrets: `there is no ${form} form without the option secrets` })
  }
  const { id } = current.workspace
  const show = {
    clear: secrets.opened,
    masked: secrets.masked,
    sealed: secrets.sealed, // what is in clear still is sealed for the document alone
  }[form]
  const [endpoints, plugins] = await Promise.all([
    eachInSlices(clock, current.endpoints, async (each) => ({ ...each, row: await show(id, 'endpoints', each.row) })),
    eachInSlices(clock, current.plugins, async (each) => ({ ...each, row: await show(id, 'plugins', each.row) })),
  ])
  return { ...current, endpoints, plugins }
}
