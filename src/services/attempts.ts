import type { Context } from '../context.ts'
import type { AttemptQuery } from '../contracts/storage/attempts.ts'
import type { TimeRange } from '../contracts/storage/list.ts'
import { queuedWithinMs, shownAttempt } from '../core/attempt.ts'
import { recordText } from '../core/capture.ts'
import type { Compatible } from '../core/webhookx.ts'
import { notFound } from '../errors.ts'
import type { Attempt } from '../schema/attempt.ts'
import { listParameters } from '../schema/page.ts'
import { idPattern } from '../schema/shared.ts'
import { type Asked, listPage } from './listing.ts'
import type { AttemptUseCases } from './use-cases.ts'

export function attemptService(ctx: Context): AttemptUseCases {
  const { compatible } = ctx.settings
  return {
    async list(workspaceId, query = {}) {
      return await listPage<Attempt>(listParameters.attempts, query, async (asked) => {
        const now = ctx.clock.now()
        const page = await ctx.storage.attempts.list(workspaceId, storedQuery(asked, now, compatible))
        return { ...page, rows: page.rows.map((row) => shownAttempt(row, now, compatible)) }
      })
    },

    async get(workspaceId, id) {
      const found = idPattern.test(id) ? await ctx.storage.attempts.get(workspaceId, id) : null
      if (found === null) throw notFound()
      const attempt = shownAttempt(found, ctx.clock.now(), compatible)
      if (attempt.request === null || found.request?.fromEvent !== true) return attempt
      const event = await ctx.storage.events.get(workspaceId, found.event_id)
      const body = event === null ? null : recordText(event.data, ctx.settings.deliver.captureBytes)
      return { ...attempt, request: { ...attempt.request, body } }
    },
  }
}

/** INIT and QUEUED are both stored as OPEN; the due time tells them apart at the moment of asking. */
function storedQuery({ status, ...asked }: Asked, now: number, compatible?: Compatible): AttemptQuery {
  const horizon = now + queuedWithinMs
  const byHand = (range: TimeRange | null) => (compatible === 'webhookx' ? { scheduled_at_by_hand: range } : {})
  const due = asked.scheduled_at ?? {}
  if (status === 'QUEUED') {
    const lte = Math.min(horizon, due.lte ?? horizon)
    return { ...asked, status: 'OPEN', scheduled_at: { ...due, lte }, ...byHand(null) }
  }
  if (status === 'INIT') {
    const gt = Math.max(horizon, due.gt ?? horizon)
    return { ...asked, status: 'OPEN', scheduled_at: { ...due, gt }, ...byHand(due) }
  }
  return status === undefined ? asked : { ...asked, status }
}
