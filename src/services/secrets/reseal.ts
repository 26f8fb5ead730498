import type { Context } from '../../context.ts'
import type { Noun } from '../../contracts/row-secrets.ts'
import type { Configuration } from '../../contracts/storage/configuration.ts'
import { readSealed } from '../../core/sealed.ts'
import { PosthornError } from '../../errors.ts'
import { withWriteLock } from '../../runtime/write-lock.ts'
import type { SecretsService } from '../../surface/secrets.ts'
import { allWorkspaces } from './all-workspaces.ts'
import { sealedRowsOf } from './row-secrets.ts'
import type { SealedRows } from './sealed-rows.ts'
import { UnopenedError } from './unopened-error.ts'

/** Each step is a write of this many rows at most, and raises the workspace's revision once. */
const rowsOfStep = 100
const maxProblems = 100

/** Counts the values sealed with each key, and seals everything with the key that seals now. */
export function resealService(ctx: Context): SecretsService {
  return {
    async status() {
      const secrets = await sealedRowsOf(ctx.secrets)
      const counts = new Map<string, number>()
      let clear = 0
      for await (const id of allWorkspaces(ctx)) {
        const current = await ctx.storage.configuration(id)
        for (const { text, named } of current === null ? [] : placesOfAll(secrets, current)) {
          const keyId = readSealed(text)?.keyId
          if (keyId !== undefined) counts.set(keyId, (counts.get(keyId) ?? 0) + 1)
          else if (named) clear++
        }
      }
      const keys = [...counts].map(([id, values]) => ({ id, values, known: secrets.vault?.knows(id) ?? false }))
      return { seals_with: secrets.vault?.keyId ?? null, keys: keys.toSorted((a, b) => (a.id < b.id ? -1 : 1)), clear }
    },

    async reseal({ signal, onProgress } = {}) {
      const { vault } = await sealedRowsOf(ctx.secrets)
      if (vault === null) throw new PosthornError('validation', 'nothing is sealed without the option secrets')
      const report = { workspaces: 0, resealed: 0, left: 0 }
      const problems = new Set<string>()
      for await (const id of allWorkspaces(ctx)) {
        if (signal?.aborted === true) break
        report.workspaces++
        const onStep = (values: number): void => {
          report.resealed += values
          onProgress?.({ ...report, problems: [...problems] })
        }
        const done = await resealWorkspace(ctx, id, vault.keyId, onStep, signal)
        report.left += done.left
        for (const problem of done.problems)
          if (problems.size < maxProblems) problems.add(`workspace ${id}: ${problem}`)
      }
      return { ...report, problems: [...problems] }
    },
  }
}

function placesOfAll(secrets: SealedRows, { endpoints, plugins }: Configuration) {
  return [
    ...endpoints.flatMap(({ row }) => secrets.placesOf('endpoints', row)),
    ...plugins.flatMap(({ row }) => secrets.placesOf('plugins', row)),
  ]
}

interface Done {
  readonly left: number
  readonly problems: ReadonlySet<string>
}

/** Goes through a workspace in steps. Rows that cannot be opened are passed over. */
async function resealWorkspace(
  ctx: Context,
  id: string,
  keyId: string,
  onStep: (values: number) => void,
  signal?: AbortSignal,
): Promise<Done> {
  const passed: Passed = { rows: new Map(), problems: new Set() }
  for (;;) {
    const step = await withWriteLock<number>(ctx.storage, id, () => resealStep(ctx, id, keyId, passed)).catch(
      (cause: unknown) => {
        // Others write the workspace all the time. The next call goes on here.
        if (!(cause instanceof PosthornError && cause.code === 'overloaded')) throw cause
        passed.problems.add(cause.message)
        return 0
      },
    )
    if (step > 0) onStep(step)
    if (step === 0 || signal?.aborted === true) break
  }
  const left = [...passed.rows.values()].reduce((sum, count) => sum + count, 0)
  return { left, problems: passed.problems }
}

/** Rows that could not be opened, with how many values each has, and why. */
interface Passed {
  readonly rows: Map<string, number>
  readonly problems: Set<string>
}

/** Seals the next rows of a workspace anew. Answers how many values that were. */
async function resealStep(ctx: Context, id: string, keyId: string, passed: Passed): Promise<number | 'conflict'> {
  const current = await ctx.storage.configuration(id)
  if (current === null) return 0 // the workspace was deleted
  const secrets = await sealedRowsOf(ctx.secrets)
  const step = { room: rowsOfStep, values: 0 }
  const put = async <Row extends { readonly id: string }>(noun: Noun, rows: readonly { readonly row: Row }[]) => {
    const sealed: Row[] = []
    for (const { row } of rows) {
      const old = secrets.placesOf(noun, row).filter(({ text }) => readSealed(text)?.keyId !== keyId)
      const key = `${noun} ${row.id}`
      if (step.room === 0 || old.length === 0 || passed.rows.has(key)) continue
      try {
        sealed.push(await secrets.sealedAnew(id, noun, row, old))
        step.values += old.length
        step.room--
      } catch (cause) {
        if (!(cause instanceof UnopenedError)) throw cause
        passed.rows.set(key, old.length)
        passed.problems.add(cause.message)
      }
    }
    return { put: sealed, remove: [] }
  }
  const plan = {
    workspaceId: id,
    endpoints: await put('endpoints', current.endpoints),
    sources: { put: [], remove: [] },
    plugins: await put('plugins', current.plugins),
  }
  if (step.values === 0) return 0
  const outcome = await ctx.storage.applyConfig(plan, current.revision)
  if (outcome === 'applied') return step.values
  if (outcome === 'conflict') return outcome
  throw new PosthornError('internal', 'the storage refused rows that it holds')
}
