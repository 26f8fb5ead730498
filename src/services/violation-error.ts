import type { Context } from '../context.ts'
import type { Violation } from '../contracts/storage/configuration.ts'
import { PosthornError } from '../errors.ts'
import { violationError } from './resolve-workspace.ts'

/**
 * The error that a caller of a workspace gets for a row that cannot be stored. A key that a row of the same workspace holds
 * is named. Of a row elsewhere the caller learns only that the id or the path is taken.
 */
export async function refusalOf(ctx: Context, workspaceId: string, violation: Violation): Promise<PosthornError> {
  if (violation.kind !== 'unique') return violationError(violation)
  const { id, path, method } = violation.key
  if (id !== undefined && !(await hasRow(ctx, workspaceId, id))) return taken('id')
  if (path !== undefined && !(await hasRoute(ctx, workspaceId, path, method))) return taken('path')
  return violationError(violation)
}

/** The refusal of an id or a path that another workspace holds. */
export function taken(what: 'id' | 'path'): PosthornError {
  return new PosthornError('unique_violation', `${what} is taken`)
}

/** Ids are unique for each kind, and a violation does not say the kind of the row. */
async function hasRow({ storage }: Context, workspaceId: string, id: string): Promise<boolean> {
  const { endpoints, sources, plugins } = storage
  const rows = [endpoints.get(workspaceId, id), sources.get(workspaceId, id), plugins.get(workspaceId, id)]
  return (await Promise.all(rows)).some((row) => row !== null)
}

async function hasRoute({ storage }: Context, workspaceId: string, path: string, method = ''): Promise<boolean> {
  const [route] = await storage.routes([{ path, method }])
  return route?.workspaceId === workspaceId
}
