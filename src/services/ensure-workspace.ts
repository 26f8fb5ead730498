import type { Context } from '../context.ts'
import { PosthornError } from '../errors.ts'
import { parse } from '../schema/parse.ts'
import { type EnsureWorkspaceInput, ensureWorkspaceInput, type Workspace } from '../schema/workspace.ts'
import { createWorkspace } from './create-workspace.ts'
import { defaultWorkspace, writableWorkspace } from './resolve-workspace.ts'
import type { Created } from './use-cases.ts'

/** Creates the workspace with this id, or answers the existing workspace, as it is. */
export async function ensureWorkspace(ctx: Context, input: EnsureWorkspaceInput): Promise<Created<Workspace>> {
  const { id, name } = parse(ensureWorkspaceInput, input)
  const found = await stored(ctx, id)
  if (found !== null) return { row: found, created: false }
  try {
    return { row: await createWorkspace(ctx, { id, name }), created: true }
  } catch (cause) {
    if (!(cause instanceof PosthornError) || cause.code !== 'unique_violation') throw cause
    // Another caller created the workspace meanwhile, unless the name belongs to a workspace with another id.
    const other = await stored(ctx, id)
    if (other === null) throw cause
    return { row: other, created: false }
  }
}

/** The default workspace can be read before anybody writes it. */
async function stored(ctx: Context, id: string): Promise<Workspace | null> {
  if (id === defaultWorkspace) return await writableWorkspace(ctx, id)
  return (await ctx.storage.workspaces.get(id))?.row ?? null
}
