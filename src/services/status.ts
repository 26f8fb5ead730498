import type { Context } from '../context.ts'
import { durationText, sizeText } from '../core/duration.ts'
import type { ComponentHealth } from '../schema/status.ts'
import type { Services } from './services.ts'

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
        uptime: durationText(now - ctx.startedAt),
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
        queue: {
          size: queue.size,
          backlog_latency_secs:
            queue.oldestDueAt === null ? 0 : Math.max(0, Math.floor((now - queue.oldestDueAt) / 1000)),
        },
        event: { pending },
      }
    },

    async health() {
      const [storage, queue] = await Promise.all([
        component(() => ctx.storage.ping()),
        component(() => ctx.queue.stats(ctx.clock.now())),
      ])
      const up = storage.status === 'UP' && queue.status === 'UP'
      return { status: up ? 'UP' : 'DOWN', components: { storage, queue } }
    },
  }

  async function component(probe: () => Promise<unknown>): Promise<ComponentHealth> {
    const over = new AbortController()
    try {
      // A part that hangs is down.
      const late = ctx.clock
        .sleep(healthDeadlineMs, over.signal)
        .then(() => over.signal.aborted || Promise.reject(new Error('late')))
      late.catch(() => {}) // it may end after the race
      await Promise.race([probe(), late])
      return { status: 'UP' }
    } catch (cause) {
      ctx.log.warn('a component is down', { cause })
      // What the engine said may name hosts or users, so it goes to the log alone.
      return {
        status: 'DOWN',
        error: cause instanceof Error && cause.message === 'late' ? 'no answer in time' : 'unavailable',
      }
    } finally {
      over.abort()
    }
  }
}

const healthDeadlineMs = 5_000
