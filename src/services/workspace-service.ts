import type { Context } from '../context.ts'
import { merge } from '../core/merge.ts'
import { notFound, PosthornError } from '../errors.ts'
import { listParameters } from '../schema/page.ts'
import { parse } from '../schema/parse.ts'
import { idPattern } from '../schema/shared.ts'
import { type Workspace, workspaceInput } from '../schema/workspace.ts'
import { listPage } from './listing.ts'
import type { WorkspaceService } from './services.ts'
import { inTurn } from './turns.ts'
import { defaultWorkspace, makeDefault, resolveWorkspace, violationError } from './workspaces.ts'

export function workspaceService(ctx: Context): WorkspaceService {
  const { workspaces } = ctx.storage

  async function get(id: string) {
    if (!idPattern.test(id)) throw notFound()
    const found = await workspaces.get(id)
    if (found !== null) return found
    if (id !== defaultWorkspace) throw notFound()
    await makeDefault(ctx)
    return (await workspaces.get(id)) ?? raise(notFound())
  }

  return {
    async list(query = {}) {
      await resolveWorkspace(ctx, defaultWorkspace)
      return await listPage<Workspace>('/workspaces', listParameters.workspaces, query, (asked) =>
        workspaces.list(asked),
      )
    },

    async create(input) {
      const { id, created_at: _created, updated_at: _updated, ...fields } = parse(workspaceInput, input)
      await resolveWorkspace(ctx, defaultWorkspace)
      const now = ctx.clock.now()
      const row: Workspace = { id: id ?? ctx.newId(), ...fields, created_at: now, updated_at: now }
      const outcome = await workspaces.insert(row)
      if (outcome === 'written') return row
      if (outcome === 'missing') throw new PosthornError('internal', 'the storage refused the workspace')
      throw violationError(outcome)
    },

    async get(id) {
      return (await get(id)).row
    },

    update: (id, input) =>
      inTurn(ctx.storage, id, async () => {
        const { row: old, revision } = await get(id)
        const { id: _id, ...fields } = parse(workspaceInput, merge(old, input))
        if (id === defaultWorkspace && fields.name !== defaultWorkspace) {
          throw new PosthornError('validation', 'cannot rename default workspace')
        }
        const row: Workspace = { id, ...fields, created_at: old.created_at, updated_at: ctx.clock.now() }
        const outcome = await workspaces.update(row, revision)
        if (outcome === 'written') return row
        if (outcome === 'conflict') return outcome
        throw outcome === 'missing' ? notFound() : violationError(outcome)
      }),

    async delete(id) {
      if (id === defaultWorkspace) throw new PosthornError('validation', 'cannot delete a default workspace')
      if (idPattern.test(id)) await workspaces.delete(id)
    },
  }
}

function raise(error: Error): never {
  throw error
}
