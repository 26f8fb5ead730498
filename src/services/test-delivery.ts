import * as v from 'valibot'

import type { Context } from '../context.ts'
import { Cancellation } from '../core/cancellation.ts'
import { jsonOf } from '../core/json-of.ts'
import { testAttempt } from '../core/fanout.ts'
import { tenantShares } from '../core/tenants.ts'
import { notFound, PosthornError } from '../errors.ts'
import type { Attempt } from '../schema/attempt.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import { isStorableJson, object, textRule, withDefault } from '../schema/fields.ts'
import { eventType } from '../schema/event.ts'
import { JsonText } from '../schema/json-text.ts'
import { parse } from '../schema/parse.ts'
import { idPattern } from '../schema/shared.ts'
import { attemptService } from './attempts.ts'
import type { Deliver } from './deliver.ts'
import type { Loaded } from './loaded-attempt.ts'
import type { Ingest } from './ingest.ts'
import type { EndpointUseCases } from './use-cases.ts'

const sample = { message: 'A test delivery from Posthorn.' }
export const testInput = object({
  event_type: withDefault(eventType, 'posthorn.test'),
  data: v.optional(v.pipe(v.unknown(), v.check(isStorableJson, textRule))),
})

/** A worker takes the attempt over when this process dies in the middle of it, this long after it must have ended. */
const graceMs = 10_000

/**
 * Makes one sample delivery at once, beside the queue, and answers its attempt. A failed test is not retried. As many
 * test deliveries are under way at once as the worker has slots, shared by workspace and then by endpoint; a call
 * beyond that share throws `overloaded`. So does a call that found no connection: a worker then makes the delivery.
 */
export function testDeliveryService(ctx: Context, ingest: Ingest, deliver: Deliver): Pick<EndpointUseCases, 'test'> {
  const shares = tenantShares(ctx.settings.deliver.concurrency)

  return {
    async test(workspaceId, id, input = {}) {
      const parsed = parse(testInput, input)
      const data =
        parsed.data instanceof JsonText
          ? parsed.data.text
          : jsonOf(parsed.data === undefined ? sample : parsed.data, 'data')
      const stored = idPattern.test(id) ? await ctx.storage.endpoints.get(workspaceId, id) : null
      if (stored === null) throw notFound()
      const tenant = { workspace: workspaceId, owner: id }
      if (!shares.take(tenant, 1)) throw tooMany()
      try {
        return await make(workspaceId, stored.row, parsed.event_type, data)
      } finally {
        shares.give(tenant, 1)
      }
    },
  }

  async function make(
    workspaceId: string,
    { id, request }: Endpoint,
    event_type: string,
    data: string,
  ): Promise<Attempt> {
    await ctx.clock.ready?.()
    const { timeout } = request
    const dueAt = ctx.clock.now() + (timeout === 0 ? ctx.settings.deliver.timeoutMs : timeout) + graceMs
    let attemptId = ''
    await ingest.withAttempts(workspaceId, { id: null, event_type, data, unique_id: null }, (event) => {
      const attempt = testAttempt(event.id, id, { now: ctx.clock.now(), dueAt }, ctx.newId)
      attemptId = attempt.id
      return [attempt]
    })
    const [held] = await deliver.load([{ id: attemptId }])
    if (held === undefined) throw notMade()
    const loaded = dueAtOnce(held)
    const sent = await deliver.attempt(loaded, new Cancellation())
    if (sent === null) throw notMade()
    if (sent === 'busy') throw tooMany()
    await deliver.settle(deliver.conclude(loaded, sent, null))
    return await attemptService(ctx).get(workspaceId, attemptId)
  }
}

/** Without the time at which a worker would take the attempt over: listeners do not need it. */
function dueAtOnce(held: Loaded): Loaded {
  const { attempt } = held.delivery
  return { ...held, delivery: { ...held.delivery, attempt: { ...attempt, scheduled_at: attempt.created_at } } }
}

function notMade(): PosthornError {
  return new PosthornError('unavailable', 'the delivery was not made')
}

function tooMany(): PosthornError {
  return new PosthornError('overloaded', 'too many test deliveries are under way')
}
