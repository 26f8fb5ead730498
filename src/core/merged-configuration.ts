import type { Configuration, ConfigurationSince, Stored } from '../contracts/storage/configuration.ts'

/**
 * A whole configuration, of an earlier one and what changed since its revision. Null where the two do not fit together, such as
 * after the restore of a backup: then only the whole tells.
 */
export function mergedConfiguration<Whole extends Configuration>(
  known: Whole,
  since: Whole & Pick<ConfigurationSince, 'ids'>,
): Whole | null {
  if (since.revision < known.revision) return null
  const endpoints = mergedRows<Whole['endpoints'][number]>(known.endpoints, since.endpoints, since.ids.endpoints)
  const sources = mergedRows<Whole['sources'][number]>(known.sources, since.sources, since.ids.sources)
  const plugins = mergedRows<Whole['plugins'][number]>(known.plugins, since.plugins, since.ids.plugins)
  if (endpoints === null || sources === null || plugins === null) return null
  return { ...known, workspace: since.workspace, revision: since.revision, endpoints, sources, plugins }
}

/** The rows with these ids, as they were written last; null where one of them is not known. All three are in the same order. */
function mergedRows<Own extends Stored<{ readonly id: string }>>(
  known: readonly Own[],
  written: readonly Own[],
  ids: readonly string[],
): readonly Own[] | null {
  const changed = new Map(written.map((stored) => [stored.row.id, stored]))
  const rows: Own[] = []
  let next = 0 // of the known rows
  for (const id of ids) {
    const own = changed.get(id)
    // Rows that went stand between, and earlier forms of rows that changed.
    while (own === undefined && next < known.length && known[next]!.row.id !== id) next++
    const stored = own ?? known[next++]
    if (stored === undefined) return null
    rows.push(stored)
  }
  return rows
}
