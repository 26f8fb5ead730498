import type { Operation } from './operation.ts'

/** Whether a call of an operation that was done changed or revealed something: see `Operation.changes`. */
export function isChange({ http, changes }: Operation, args: readonly unknown[], answer: unknown): boolean {
  const flags = (args.at(-1) ?? {}) as { readonly dryRun?: unknown; readonly secrets?: unknown } // whatever comes last
  if (changes === 'in clear') return flags.secrets === 'clear'
  if (!(changes ?? !http.startsWith('GET ')) || flags.dryRun === true) return false
  return (answer as { readonly created?: unknown } | undefined)?.created !== false // `ensure` found the row
}

/** The workspace that a call names, by id or name, and the row that the call was about. */
export function subjectOf(
  { http }: Operation,
  args: readonly unknown[],
  answer: unknown,
): { readonly workspace: string | null; readonly id: string | null } {
  const inWorkspace = http.includes('{P}')
  const named = http.includes('{id}') ? args[inWorkspace ? 1 : 0] : idIn(answer)
  const id = typeof named === 'string' ? named : null
  const workspace = inWorkspace ? args[0] : id
  return { workspace: typeof workspace === 'string' ? workspace : null, id }
}

/** The id of a row that was made. */
function idIn(answer: unknown): unknown {
  const { id, row } = (answer ?? {}) as { readonly id?: unknown; readonly row?: { readonly id?: unknown } } // of any form
  return id ?? row?.id
}
