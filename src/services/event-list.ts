import type { Context } from '../context.ts'
import type { Page } from '../contracts/storage/list.ts'
import type { StoredEvent } from '../schema/event.ts'
import { listParameters } from '../schema/page.ts'
import { type Asked, invalidParameters, listPage } from './listing.ts'
import type { EventUseCases } from './use-cases.ts'

/** A page of events ends early when its data reaches this many bytes. */
const maxPageBytes = 16 * 1024 * 1024

/** Lists events; `data` is text here. */
export function eventListService(ctx: Context): Pick<EventUseCases, 'list'> {
  return {
    async list(workspaceId, query = {}) {
      return await listPage<StoredEvent>(listParameters.events, query, async (asked) => {
        const page = await ctx.storage.events.list(workspaceId, { ...asked, maxBytes: maxPageBytes })
        if (isCut(page, asked)) {
          throw invalidParameters(['page_size: the page is larger than 16 MiB, ask for fewer rows or use limit'])
        }
        return page
      })
    },
  }
}

/** Whether a numbered page ended early. The next page begins where this page would have ended with `limit` rows. */
function isCut({ rows, total }: Page<StoredEvent>, { page, limit }: Asked): boolean {
  if (page === null || rows.length >= Math.min(limit, (total ?? 0) - (page - 1) * limit)) return false
  // Where the rows are smaller, some were removed while the page was read.
  return new Blob(rows.map(({ data }) => data)).size >= maxPageBytes
}
