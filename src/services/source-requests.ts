import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { idPattern } from '../schema/shared.ts'
import type { SourceService } from '../surface/sources.ts'

/** Shows what the gateway of this process took for a source. */
export function sourceRequestService(ctx: Context): Pick<SourceService, 'requests'> {
  return {
    async requests(workspaceId, id) {
      const stored = idPattern.test(id) ? await ctx.storage.sources.get(workspaceId, id) : null
      if (stored === null) throw notFound()
      return { data: ctx.requests.of({ workspaceId, sourceId: id }) }
    },
  }
}
