import type { Awaitable } from '../../contracts/awaitable.ts'
import type { RowSecrets } from '../../contracts/row-secrets.ts'
import type { Settings } from '../../settings.ts'
import { lazy } from '../../runtime/lazy.ts'
import { eachInSlices, type SliceClock } from '../../runtime/slices.ts'
import type { RowSecretsNeeds } from './needs.ts'
import type { SealedRows } from './sealed-rows.ts'

/** Headers that are secret where the option `secrets` is set and `deliver.secretHeaders` is not. */
const defaultSecretHeaders = ['x-auth-token', 'api-key', 'x-signature-key', 'proxy-authorization']

/** The secrets of rows, with the code that seals and opens. */
interface LoadedRowSecrets extends RowSecrets {
  readonly rows: () => Awaitable<SealedRows>
}

/** The code that seals and opens. */
export async function sealedRowsOf(secrets: RowSecrets): Promise<SealedRows> {
  return await (secrets as LoadedRowSecrets).rows() // the secrets of every context are made here
}

export function rowSecrets(needs: RowSecretsNeeds, { secrets, deliver }: Settings): RowSecrets {
  const own = deliver.secretHeaders ?? (secrets === undefined ? [] : defaultSecretHeaders)
  const headers = new Set([...deliver.redactHeaders, ...own].map((name) => name.toLowerCase()))
  const rows = lazy(async () => (await import('./sealed-rows.ts')).sealedRows(needs, headers, secrets))
  return over({ seals: secrets !== undefined, headers, rows, clock: needs.clock })
}

const inputs = lazy(() => import('./given-secrets.ts'))

interface Means {
  readonly seals: boolean
  readonly headers: ReadonlySet<string>
  readonly rows: () => Awaitable<SealedRows>
  readonly clock: SliceClock
}

function over(means: Means): LoadedRowSecrets {
  const { seals, headers, rows, clock } = means
  return {
    seals,
    headers,
    rows,
    over: (storage) => over({ ...means, rows: async () => (await rows()).over(storage) }),
    opened: async (workspaceId, noun, row) =>
      holdsSealed(row) ? await (await rows()).opened(workspaceId, noun, row) : row,
    readable: async (workspaceId, noun, row) => (seals ? await (await rows()).readable(workspaceId, noun, row) : row),
    masked: async (workspaceId, noun, row) => (seals ? await (await rows()).masked(workspaceId, noun, row) : row),
    async maskedPage(workspaceId, noun, page) {
      if (!seals) return page
      const all = await rows()
      return { ...page, rows: await eachInSlices(clock, page.rows, (row) => all.masked(workspaceId, noun, row)) }
    },
    sealed: async (workspaceId, noun, row, before) =>
      seals ? await (await rows()).sealed(workspaceId, noun, row, before) : row,
    async given(workspaceId, noun, input, known) {
      if (!seals) return input
      const { givenInput } = await inputs()
      return await givenInput(await rows(), workspaceId, noun, input, known)
    },
  }
}

/** Whether a value may hold a sealed text. */
export function holdsSealed(value: unknown): boolean {
  if (typeof value === 'string') return value.startsWith('sealed:v1:')
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsSealed)
}
