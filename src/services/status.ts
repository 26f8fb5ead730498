import type { Context } from '../context.ts'
import type { EnginePart } from '../contracts/engine.ts'
import { durationText, sizeText } from '../core/duration.ts'
import { PosthornError } from '../errors.ts'
import type { ComponentHealth } from '../schema/status.ts'
import { withDeadline } from '../runtime/deadline.ts'
import type { Services } from './use-cases.ts'

/** Less than five seconds, so that a fault is reported within five seconds. */
const deadlineMs = 4_000

/** The report of an instance and whether it can work. */
export function statusService(ctx: Context): Pick<Services, 'status' | 'health'> {
  return {
    async status() {
      const vitals = ctx.platform.vitals()
      const now = ctx.clock.now()
      const [connections, queue, pending] = await Promise.all([
        ctx.storage.stats(),
        ctx.queue.stats(now),
        ctx.inbox.size(),
      ])
      const { counters } = ctx
      const heap = sizeText(vitals.heapUsed)
      return {
        uptime: durationText(ctx.uptimeMs()),
        runtime: { go: vitals.version, goroutines: vitals.handles },
        memory: {
          alloc: heap,
          sys: sizeText(vitals.residentSet),
          heap_alloc: heap,
          heap_idle: sizeText(Math.max(0, vitals.heapTotal - vitals.heapUsed)),
          heap_inuse: heap,
          heap_objects: vitals.heapObjects,
          gc: vitals.collections,
        },
        database: { total_connections: connections.total, active_connections: connections.active },
        inbound_requests: counters.inbound,
        inbound_failed_requests: counters.inboundFailed,
        outbound_requests: counters.outbound,
        outbound_processing_requests: counters.outboundProcessing,
        outbound_failed_requests: counters.outboundFailed,
        queue: { size: queue.size, backlog_latency_secs: backlogSeconds(queue.oldestDueAt, now) },
        event: { pending },
      }
    },

    async health() {
      const [storage, queue] = await Promise.all([
        component(ctx, ctx.storage, () => ctx.storage.ping()),
        component(ctx, ctx.queue, () => ctx.queue.ping?.() ?? ctx.queue.stats(ctx.clock.now())),
      ])
      const up = storage.status === 'UP' && queue.status === 'UP'
      return { status: up ? 'UP' : 'DOWN', components: { storage, queue } }
    },
  }
}

async function component(ctx: Context, part: EnginePart, probe: () => Promise<unknown>): Promise<ComponentHealth> {
  try {
    const [listening = true] = await withDeadline(
      ctx.clock,
      deadlineMs,
      Promise.all([isListening(part), probe()]),
      () => late,
    )
    return listening ? { status: 'UP' } : { status: 'UP', listening: false }
  } catch (cause) {
    ctx.repeating.warn('a component is down', { cause })
    // The engine's message may name hosts or users, so only the log gets it.
    return { status: 'DOWN', error: cause === late ? late.message : 'unavailable' }
  }
}

/** A lost listener is no reason to be DOWN: polling finds what it would have reported. */
async function isListening(part: EnginePart): Promise<boolean | undefined> {
  try {
    return await part.listening?.()
  } catch {
    return false
  }
}

/** What the parts behind this instance report now; null where a part fails or does not answer in time. */
export async function figures(ctx: Context) {
  const now = ctx.clock.now()
  const known = async <Answer>(ask: () => Promise<Answer>) =>
    await withDeadline(ctx.clock, deadlineMs, ask(), () => late).catch(() => null)
  const [connections, queue, pending] = await Promise.all([
    known(() => ctx.storage.stats()),
    known(() => ctx.queue.stats(now)),
    known(() => ctx.inbox.size()),
  ])
  return {
    connections,
    queue: queue && { size: queue.size, backlogSeconds: backlogSeconds(queue.oldestDueAt, now) },
    pending,
  }
}

const late = new PosthornError('unavailable', 'no answer in time')

function backlogSeconds(oldestDueAt: number | null, now: number): number {
  return oldestDueAt === null ? 0 : Math.max(0, Math.floor((now - oldestDueAt) / 1000))
}
