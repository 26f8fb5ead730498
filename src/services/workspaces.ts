import type { Context } from '../context.ts'
import type { Bounds, Violation } from '../contracts/storage.ts'
import { foreignKeyViolation, PosthornError, uniqueViolation } from '../errors.ts'
import { maxPatterns } from '../schema/endpoint.ts'
import { isStorableText, textRule } from '../schema/leaf.ts'
import type { Workspace } from '../schema/workspace.ts'

/** The id and name of the workspace that always exists. */
export const defaultWorkspace = 'default'

export function unknownWorkspace(idOrName: string): PosthornError {
  return new PosthornError('unknown_workspace', `invalid workspace: ${idOrName}`)
}

/** How much a workspace may have. */
export function boundsOf(ctx: Context): Bounds {
  return { ...ctx.settings.limits, patterns: maxPatterns }
}

/** The error that tells of a row that cannot stand. */
export function violationError(violation: Violation): PosthornError {
  if (violation.kind === 'full') {
    const what = violation.of === 'patterns' ? 'event patterns of all endpoints' : violation.of
    return new PosthornError('validation', `maximum number of ${what} of a workspace is ${violation.most}`)
  }
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

/** Makes the default workspace, unless somebody else does meanwhile. */
export async function makeDefault(ctx: Context): Promise<Workspace> {
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
