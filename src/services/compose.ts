import type { Context } from '../context.ts'
import { attemptService } from './attempts.ts'
import { type Deliver, deliverService } from './deliver.ts'
import { endpointResources } from './endpoints.ts'
import { eventReads } from './events.ts'
import { type Ingest, ingestService } from './ingest.ts'
import { pluginService } from './plugins.ts'
import { publishService } from './publish.ts'
import type { Services } from './services.ts'
import { sourceService } from './sources.ts'

/**
 * All use cases over one context, with the two services that the worker and the gateway share with them. What most
 * processes never do is loaded when it is first asked for.
 */
export function composeServices(ctx: Context): { services: Services; ingest: Ingest; deliver: Deliver } {
  const ingest = ingestService(ctx)
  const deliver = deliverService(ctx)
  const load = async () => (await import('./on-demand.ts')).onDemandServices(ctx, ingest, deliver)
  let loading: ReturnType<typeof load> | undefined
  const onDemand = () => (loading ??= load())
  const services: Services = {
    workspaces: {
      list: async (...asked) => (await onDemand()).workspaces.list(...asked),
      create: async (...asked) => (await onDemand()).workspaces.create(...asked),
      get: async (...asked) => (await onDemand()).workspaces.get(...asked),
      update: async (...asked) => (await onDemand()).workspaces.update(...asked),
      delete: async (...asked) => (await onDemand()).workspaces.delete(...asked),
    },
    endpoints: {
      ...endpointResources(ctx),
      test: async (...asked) => (await onDemand()).test(...asked),
      secret: async (...asked) => (await onDemand()).secret(...asked),
      rotateSecret: async (...asked) => (await onDemand()).rotateSecret(...asked),
    },
    sources: sourceService(ctx),
    plugins: pluginService(ctx),
    events: {
      ...eventReads(ctx),
      ...publishService(ctx, ingest),
      retry: async (...asked) => (await onDemand()).retry(...asked),
      explain: async (...asked) => (await onDemand()).explain(...asked),
      replay: async (...asked) => (await onDemand()).replay(...asked),
    },
    attempts: attemptService(ctx),
    config: {
      sync: async (...asked) => (await onDemand()).sync(...asked),
      dump: async (...asked) => (await onDemand()).dump(...asked),
    },
    secrets: {
      reseal: async (...asked) => (await onDemand()).secrets.reseal(...asked),
      status: async () => (await onDemand()).secrets.status(),
    },
    status: async () => (await onDemand()).status(),
    health: async () => (await onDemand()).health(),
  }
  return { services, ingest, deliver }
}
