import type { Context } from '../context.ts'
import { workspaceRow } from '../core/workspace-row.ts'
import { PosthornError } from '../errors.ts'
import { parse } from '../schema/parse.ts'
import { type Workspace, type WorkspaceInput, workspaceInput } from '../schema/workspace.ts'
import { defaultWorkspace, violationError, writableWorkspace } from './resolve-workspace.ts'

/** Stores a new workspace. @throws PosthornError validation, unique_violation */
export async function createWorkspace(ctx: Context, input: WorkspaceInput): Promise<Workspace> {
  const { id, created_at: _created, updated_at: _updated, ...fields } = parse(workspaceInput, input)
  await writableWorkspace(ctx, defaultWorkspace)
  const now = ctx.clock.now()
  const row = workspaceRow({ id: id ?? ctx.newId(), ...fields, created_at: now, updated_at: now })
  const outcome = await ctx.storage.workspaces.insert(row)
  if (outcome === 'written') return row
  if (outcome === 'missing') throw new PosthornError('internal', 'the storage refused the workspace')
  throw violationError(outcome)
}
