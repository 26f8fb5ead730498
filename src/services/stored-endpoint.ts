import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import { idPattern } from '../schema/shared.ts'

/** An endpoint as it is stored. @throws PosthornError `not_found` */
export async function storedEndpoint(ctx: Context, workspaceId: string, id: string): Promise<Endpoint> {
  const stored = idPattern.test(id) ? await ctx.storage.endpoints.get(workspaceId, id) : null
  if (stored === null) throw notFound()
  return stored.row
}
