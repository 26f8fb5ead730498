import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import type { StoredEvent } from '../schema/event.ts'
import { listParameters } from '../schema/page.ts'
import { idPattern } from '../schema/shared.ts'
import { listPage } from './listing.ts'
import type { EventUseCases } from './use-cases.ts'

/** A page of events ends early when its data reaches this. */
const maxPageBytes = 16 * 1024 * 1024

/** What can be read of events; `data` is text here. */
export function eventReads(ctx: Context): Pick<EventUseCases, 'list' | 'get'> {
  return {
    async list(workspaceId, query = {}) {
      return await listPage<StoredEvent>(listParameters.events, query, (asked) =>
        ctx.storage.events.list(workspaceId, { ...asked, maxBytes: maxPageBytes }),
      )
    },

    async get(workspaceId, id) {
      const found = idPattern.test(id) ? await ctx.storage.events.get(workspaceId, id) : null
      if (found === null) throw notFound()
      return found
    },
  }
}
