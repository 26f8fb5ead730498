import type { Context } from '../context.ts'
import type { Page } from '../contracts/storage/list.ts'
import { keptMetadata } from '../core/kept-metadata.ts'
import { merge, mergePatch } from '../core/merge.ts'
import { inRange } from '../core/time-range.ts'
import { workspaceRow } from '../core/workspace-row.ts'
import { notFound, PosthornError } from '../errors.ts'
import { listParameters } from '../schema/page.ts'
import { parse } from '../schema/parse.ts'
import { idPattern } from '../schema/shared.ts'
import { type Workspace, workspaceInput } from '../schema/workspace.ts'
import { createWorkspace } from './create-workspace.ts'
import { ensureWorkspace } from './ensure-workspace.ts'
import { type Asked, listPage, sizedPage } from './listing.ts'
import type { WorkspaceUseCases } from './use-cases.ts'
import { withWriteLock } from '../runtime/write-lock.ts'
import { defaultWorkspace, unwrittenDefault, violationError, writableWorkspace } from './resolve-workspace.ts'

export function workspaceService(ctx: Context): WorkspaceUseCases {
  const { workspaces } = ctx.storage

  async function get(id: string) {
    const found = idPattern.test(id) ? await workspaces.get(id) : null
    if (found === null) throw notFound()
    return found
  }

  /** A page of the list. Until the default workspace is written, no other exists. */
  async function pageOf(asked: Asked): Promise<Page<Workspace>> {
    const page = await sizedPage(asked, workspaces.list)
    if (page.rows.length > 0 || (await workspaces.get(defaultWorkspace)) !== null) return page
    const rows = [unwrittenDefault(ctx)].filter((row) => isListed(row, asked))
    return { ...page, rows: rows.slice(0, asked.limit), total: asked.page === null ? null : rows.length }
  }

  function change(
    id: string,
    input: unknown,
    changed: (row: Workspace, input: unknown) => unknown,
  ): Promise<Workspace> {
    return withWriteLock(ctx.storage, id, async () => {
      if (id === defaultWorkspace) await writableWorkspace(ctx, id)
      const { row: old, revision } = await get(id)
      const { id: _id, ...fields } = parse(workspaceInput, changed(old, input))
      if (id === defaultWorkspace && fields.name !== defaultWorkspace) {
        throw new PosthornError('validation', 'cannot rename default workspace')
      }
      const metadata = keptMetadata(old.metadata, fields.metadata)
      const row = workspaceRow({ id, ...fields, metadata, created_at: old.created_at, updated_at: ctx.clock.now() })
      const outcome = await workspaces.update(row, revision)
      if (outcome === 'written') return row
      if (outcome === 'conflict') return outcome
      throw outcome === 'missing' ? notFound() : violationError(outcome)
    })
  }

  return {
    async list(query = {}) {
      return await listPage<Workspace>(listParameters.workspaces, query, pageOf)
    },

    create: (input) => createWorkspace(ctx, input),
    ensure: (input) => ensureWorkspace(ctx, input),

    async get(id) {
      if (id !== defaultWorkspace) return (await get(id)).row
      return (await workspaces.get(id))?.row ?? unwrittenDefault(ctx)
    },

    update: (id, input) => change(id, input, merge),
    patch: (id, input) => change(id, input, mergePatch),

    async delete(id) {
      if (id === defaultWorkspace) throw new PosthornError('validation', 'cannot delete a default workspace')
      if (idPattern.test(id)) await workspaces.delete(id)
    },
  }
}

/** Whether a list that begins here and has these filters shows the row. */
function isListed(
  row: Workspace,
  { name, metadata = {}, created_at, after, before, page, descending }: Asked,
): boolean {
  const isBehind = (id: string | null, direction: boolean) => id === null || (direction ? row.id < id : row.id > id)
  return (
    (name === undefined || row.name === name) &&
    Object.keys(metadata).length === 0 &&
    inRange(row.created_at, created_at) &&
    (page === null || page === 1) &&
    isBehind(after, descending) &&
    isBehind(before, !descending)
  )
}
