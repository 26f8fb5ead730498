import type { Context } from '../context.ts'

/** A call that changed or revealed something. `workspace` is an id; null where the call was about no workspace. */
export interface Changed {
  readonly actor: string | null
  readonly operation: string
  readonly workspace: string | null
  readonly id: string | null
}

/** Tells listeners of `change` who did what. */
export function tellChange(ctx: Context, { actor, operation, workspace, id }: Changed): void {
  if (workspace !== null) ctx.emit('change', { actor, operation, workspace_id: workspace, id })
}
