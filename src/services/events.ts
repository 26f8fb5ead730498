import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { idPattern } from '../schema/shared.ts'
import type { EventUseCases } from './use-cases.ts'

/** Reads one event; `data` is text here. */
export function eventReads(ctx: Context): Pick<EventUseCases, 'get'> {
  return {
    async get(workspaceId, id) {
      const found = idPattern.test(id) ? await ctx.storage.events.get(workspaceId, id) : null
      if (found === null) throw notFound()
      return found
    },
  }
}
