import type { Context } from '../context.ts'
import type { Violation } from '../contracts/storage.ts'
import { merge } from '../core/merge.ts'
import { foreignKeyViolation, notFound, PosthornError, uniqueViolation } from '../errors.ts'
import { isStorableText, textRule } from '../schema/leaf.ts'
import { listParameters } from '../schema/page.ts'
import { parse } from '../schema/parse.ts'
import { idPattern } from '../schema/shared.ts'
import { type Workspace, workspaceInput } from '../schema/workspace.ts'
import { listPage } from './listing.ts'
import type { WorkspaceService } from './services.ts'
import { inTurn } from './turns.ts'

/** The id and name of the workspace that always exists. */
const defaultWorkspace = 'default'

export function unknownWorkspace(idOrName: string): PosthornError {
  return new PosthornError('unknown_workspace', `invalid workspace: ${idOrName}`)
}

/** The error that tells of a row that cannot stand. */
export function violationError(violation: Violation): PosthornError {
  return violation.kind === 'unique'
    ? uniqueViolation(violation.key)
    : foreignKeyViolation(violation.key, violation.references)
}

/**
 * The workspace with that id, else the one with that name. The default one is made on first use.
 * @throws PosthornError `unknown_workspace`.
 */
export async function resolveWorkspace(ctx: Context, idOrName: string): Promise<Workspace> {
  if (!isStorableText(idOrName)) throw new PosthornError('validation', textRule)
  const found = await ctx.storage.workspaces.find(idOrName)
  if (found !== null) return found.row
  if (idOrName === defaultWorkspace) return await makeDefault(ctx)
  throw unknownWorkspace(idOrName)
}

async function makeDefault(ctx: Context): Promise<Workspace> {
  const now = ctx.clock.now()
  const row: Workspace = {
    id: defaultWorkspace,
    name: defaultWorkspace,
    description: null,
    metadata: {},
    created_at: now,
    updated_at: now,
  }
  if ((await ctx.storage.workspaces.insert(row)) === 'written') return row
  // Somebody else made it meanwhile.
  const found = await ctx.storage.workspaces.get(defaultWorkspace)
  if (found === null) throw new PosthornError('internal', 'the default workspace cannot be made')
  return found.row
}

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
