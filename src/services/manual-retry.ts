import type { Context } from '../context.ts'
import { openAttempt, shownAttempt } from '../core/attempt.ts'
import { manual } from '../core/fanout.ts'
import { notFound, PosthornError } from '../errors.ts'
import { idPattern } from '../schema/shared.ts'
import { jobOf } from './job-of.ts'
import type { EventUseCases } from './use-cases.ts'

/** Sends an event to one endpoint once more: a MANUAL attempt, due at once, whatever came of the attempts before. */
export function retryService(ctx: Context): Pick<EventUseCases, 'retry'> {
  return {
    async retry(workspaceId, id, endpointId) {
      const event = idPattern.test(id) ? await ctx.storage.events.get(workspaceId, id) : null
      if (event === null) throw notFound()
      if (!idPattern.test(endpointId) || (await ctx.storage.endpoints.get(workspaceId, endpointId)) === null) {
        throw new PosthornError('validation', 'endpoint not found')
      }
      await ctx.clock.ready?.()
      const attempt = manual(id, endpointId, ctx.clock.now(), ctx.newId)
      const [added] = await ctx.storage.attempts.add(workspaceId, [attempt], { enqueue: ctx.ownQueue })
      if (!added) throw notFound()
      ctx.enqueued([jobOf(workspaceId, attempt)])
      return shownAttempt(openAttempt(attempt, event.event_type), ctx.clock.now(), ctx.settings.compatible)
    },
  }
}
