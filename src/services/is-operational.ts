import type { Context } from '../context.ts'

/**
 * Whether operational events are published in this workspace. No operational event is made about the endpoints of that
 * workspace itself.
 */
export function isOperational(
  ctx: Context,
  { id, name }: { readonly id: string; readonly name: string | null },
): boolean {
  const { operations } = ctx.settings
  return operations !== undefined && (operations.workspace === id || operations.workspace === name)
}

/** The same for the id of a workspace. The name counts only where the configuration is at hand. */
export function isOperationalId(ctx: Context, id: string): boolean {
  return isOperational(ctx, { id, name: ctx.configuration.held(id)?.workspace.name ?? null })
}
