import type { Context } from '../context.ts'
import type { StoredEvent } from '../schema/event.ts'
import { listParameters } from '../schema/page.ts'
import { listPage, refuseCut } from './listing.ts'
import type { EventUseCases } from './use-cases.ts'

/** A page of events ends early when its data reaches this many bytes. */
const maxPageBytes = 16 * 1024 * 1024

/** Lists events; `data` is text here. */
export function eventListService(ctx: Context): Pick<EventUseCases, 'list'> {
  return {
    async list(workspaceId, query = {}) {
      return await listPage<StoredEvent>(listParameters.events, query, async (asked) => {
        const page = await ctx.storage.events.list(workspaceId, { ...asked, maxBytes: maxPageBytes })
        refuseCut(page, asked, { max: maxPageBytes, bytes: (rows) => new Blob(rows.map(({ data }) => data)).size })
        return page
      })
    },
  }
}
