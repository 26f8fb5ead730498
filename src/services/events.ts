import type { Context } from '../context.ts'
import type { Page } from '../contracts/storage/list.ts'
import { notFound } from '../errors.ts'
import type { StoredEvent } from '../schema/event.ts'
import { listParameters } from '../schema/page.ts'
import { idPattern } from '../schema/shared.ts'
import { type Asked, invalidParameters, listPage } from './listing.ts'
import type { EventUseCases } from './use-cases.ts'

/** A page of events ends early when its data reaches this. */
const maxPageBytes = 16 * 1024 * 1024

/** Whether a page by its number ended early. The next one begins where this one should have ended. */
function isCut({ rows, total }: Page<StoredEvent>, { page, limit }: Asked): boolean {
  if (page === null || total === null || rows.length >= Math.min(limit, total - (page - 1) * limit)) return false
  const bytes = rows.reduce((sum, { data }) => sum + new TextEncoder().encode(data).length, 0)
  return bytes >= maxPageBytes // else rows were removed while the page was read
}

/** What can be read of events; `data` is text here. */
export function eventReads(ctx: Context): Pick<EventUseCases, 'list' | 'get'> {
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

    async get(workspaceId, id) {
      const found = idPattern.test(id) ? await ctx.storage.events.get(workspaceId, id) : null
      if (found === null) throw notFound()
      return found
    },
  }
}
