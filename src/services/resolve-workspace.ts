import type { Context } from '../context.ts'
import type { Bounds, Violation } from '../contracts/storage/configuration.ts'
import { foreignKeyViolation, PosthornError, uniqueViolation } from '../errors.ts'
import { workspaceRow } from '../core/workspace-row.ts'
import { maxPatterns } from '../schema/endpoint.ts'
import { isStorableText, textRule } from '../schema/fields.ts'
import type { Workspace } from '../schema/workspace.ts'

/** The id and name of the workspace that always exists. */
export const defaultWorkspace = 'default'

export function unknownWorkspace(idOrName: string): PosthornError {
  return new PosthornError('unknown_workspace', `invalid workspace: ${idOrName}`)
}

/** How much a workspace may have: the lower of the limits of the workspace, where given, and those of the instance. */
export function boundsOf({ settings }: Context, workspace?: Workspace): Bounds {
  const { endpoints, sources, plugins } = settings.limits
  return {
    endpoints: Math.min(workspace?.limits.endpoints ?? Infinity, endpoints),
    sources,
    plugins,
    patterns: maxPatterns,
  }
}

/** The error that tells of a row that cannot stand. */
export function violationError(violation: Violation): PosthornError {
  if (violation.kind === 'full') {
    const what = violation.of === 'patterns' ? 'event patterns of all endpoints' : violation.of
    return new PosthornError('validation', `maximum number of ${what} of a workspace is ${violation.max}`)
  }
  return violation.kind === 'unique'
    ? uniqueViolation(violation.key)
    : foreignKeyViolation(violation.key, violation.references)
}

/**
 * The workspace with that id, else the workspace with that name. The default workspace is answered too where nobody has written it yet.
 * @throws PosthornError `unknown_workspace`.
 */
export async function resolveWorkspace(ctx: Context, idOrName: string): Promise<Workspace> {
  return (await stored(ctx, idOrName)) ?? unwrittenDefault(ctx)
}

/**
 * The same for a write into the workspace: the default workspace is written first where nobody has done so yet.
 * @throws PosthornError `unknown_workspace`.
 */
export async function writableWorkspace(ctx: Context, idOrName: string): Promise<Workspace> {
  return (await stored(ctx, idOrName)) ?? (await makeDefault(ctx))
}

/** The stored workspace; null for the default workspace that nobody has written yet. */
async function stored(ctx: Context, idOrName: string): Promise<Workspace | null> {
  if (typeof idOrName !== 'string') throw unknownWorkspace(idOrName) // callers in JavaScript may pass anything
  if (!isStorableText(idOrName)) throw new PosthornError('validation', textRule)
  const found = await ctx.storage.workspaces.find(idOrName)
  if (found === null && idOrName !== defaultWorkspace) throw unknownWorkspace(idOrName)
  return found?.row ?? null
}

/** The default workspace as it is shown until it is written. Engines that migrate write it then, others with the first write. */
export function unwrittenDefault(ctx: Context): Workspace {
  const now = ctx.clock.now()
  return workspaceRow({
    id: defaultWorkspace,
    name: defaultWorkspace,
    description: null,
    metadata: {},
    created_at: now,
    updated_at: now,
  })
}

/**
 * Makes a write into a workspace. A write that misses the default workspace, because nobody has written that workspace yet,
 * is made once more after the workspace was written.
 */
export async function writeInto<Answer>(
  ctx: Context,
  workspaceId: string,
  write: () => Promise<Answer | 'missing'>,
): Promise<Answer | 'missing'> {
  const answer = await write()
  if (answer !== 'missing' || workspaceId !== defaultWorkspace) return answer
  await makeDefault(ctx)
  return await write()
}

/** Makes the default workspace, unless somebody else does meanwhile. */
export async function makeDefault(ctx: Context): Promise<Workspace> {
  const row = unwrittenDefault(ctx)
  if ((await ctx.storage.workspaces.insert(row)) === 'written') return row
  // Somebody else made it meanwhile.
  const found = await ctx.storage.workspaces.get(defaultWorkspace)
  if (found === null) throw new PosthornError('internal', 'the default workspace cannot be made')
  return found.row
}
