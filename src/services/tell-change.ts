import type { Context } from '../context.ts'
import { resolveWorkspace } from './resolve-workspace.ts'

/** A call that changed or revealed something. `workspace` is an id or a name. */
export interface Changed {
  readonly actor: string | null
  readonly operation: string
  readonly workspace: string | null
  readonly id: string | null
}

/** Tells listeners of `change` who did what. */
export async function tellChange(ctx: Context, { actor, operation, workspace, id }: Changed): Promise<void> {
  const workspace_id = workspace === null || workspace === id ? workspace : await idOf(ctx, workspace)
  if (workspace_id !== null) ctx.emit('change', { actor, operation, workspace_id, id })
}

/** The id of a workspace that was named; the name where somebody deleted the workspace since. */
async function idOf(ctx: Context, idOrName: string): Promise<string> {
  const held = ctx.configuration.held(idOrName)
  if (held !== undefined) return held.workspace.id
  return (await resolveWorkspace(ctx, idOrName).catch(() => ({ id: idOrName }))).id
}
