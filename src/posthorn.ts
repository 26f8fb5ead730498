import { engineClock, systemClock } from './clock.ts'
import type { Context, Counters } from './context.ts'
import type { Clock } from './contracts/clock.ts'
import type { Logger } from './contracts/observer.ts'
import type { Platform } from './contracts/platform.ts'
import type { PluginKind, PluginsOf } from './contracts/plugin.ts'
import type { Job } from './contracts/queue.ts'
import type { BoundStorage, Storage } from './contracts/storage.ts'
import type { Change } from './contracts/storage/configuration.ts'
import { idMaker } from './core/id.ts'
import { PosthornError } from './errors.ts'
import { type Guard, serviceFunctions } from './functions.ts'
import { adminHandler } from './http/admin.ts'
import { gatewayHandler } from './http/gateway.ts'
import { statusHandler } from './http/status.ts'
import { operations } from './operations/table.ts'
import { type Options, parseSettings } from './options.ts'
import { registry } from './plugins/registry.ts'
import type { AnyEvents } from './schema/catalogue.ts'
import type { PluginInput } from './schema/plugin.ts'
import { background } from './runtime/background.ts'
import { catalogue } from './services/catalogue.ts'
import { composeServices } from './services/compose.ts'
import { configurationCache, configurationReader } from './services/configuration-cache.ts'
import { engineOnDemand } from './services/engine-on-demand.ts'
import { measures } from './services/measures.ts'
import { repeating } from './services/repeating.ts'
import { observers, safeLogger } from './services/observers.ts'
import { routeTable } from './services/routes.ts'
import { rowSecrets } from './services/secrets/row-secrets.ts'
import { notifyingStorage } from './services/notifying-storage.ts'
import type { BoundPosthorn, Posthorn } from './surface/posthorn.ts'
import { workerOnDemand } from './worker/on-demand.ts'
import { wakeup } from './worker/wakeup.ts'
import type { Movable } from './worker/worker.ts'

const operationNames = Object.keys(operations)

/** Binds a platform: what is exported as `createPosthorn`. */
export function makePosthorn(
  platform: Platform,
): <Events extends AnyEvents = AnyEvents, const Kinds extends readonly PluginKind[] = readonly []>(
  options?: Options<Events, Kinds>,
) => Posthorn<Events, PluginInput<PluginsOf<Kinds>>> {
  return <Events extends AnyEvents, Kinds extends readonly PluginKind[]>(options: Options<Events, Kinds> = {}) =>
    // The catalogue and the kinds narrow types alone.
    assemble(platform, options) as object as Posthorn<Events, PluginInput<PluginsOf<Kinds>>>
}

function assemble(platform: Platform, options: Options): Posthorn {
  const settings = parseSettings(options)
  const log = safeLogger(options.logger ?? consoleLogger())
  const engine = options.storage ?? engineOnDemand('memory', inMemory)
  const clock = engineClock(options.clock ?? systemClock(), () => engine.time(), log)
  const startedAt = clock.elapsed()
  const queue = needed(options.queue ?? engine.queue, 'queue', engine.name)
  const plugins = registry(options.plugins ?? [])
  const routes = routeTable(engine, clock)
  const jobs = wakeup(clock)
  const seldom = repeating(clock, log)
  const later = background(seldom)
  const { on, emit } = observers(log)
  const ownQueue = queue === engine.queue

  const storage = notifyingStorage(engine, changed)
  const secrets = rowSecrets({ storage, plugins, platform, clock, log: seldom }, settings)
  const configuration = configurationCache({ storage, plugins, platform, log, secrets })
  function changed(change: Change): void {
    configuration.forget(change)
    if (change === 'routes' || change === 'everything') routes.forget()
  }

  const counters: Counters = { inbound: 0, inboundFailed: 0, outbound: 0, outboundFailed: 0, outboundProcessing: 0 }
  const ctx: Context = {
    storage,
    queue,
    inbox: needed(options.inbox ?? engine.inbox, 'inbox', engine.name),
    limiter: needed(options.limiter ?? engine.limiter, 'limiter', engine.name),
    ownQueue,
    clock,
    http: options.http ?? platform.http(settings.deliver),
    platform,
    log,
    repeating: seldom,
    telemetry: options.telemetry,
    plugins,
    secrets,
    catalogue: catalogue(options.events ?? {}, { strict: settings.strictEvents }),
    settings,
    counters,
    uptimeMs: () => clock.elapsed() - startedAt,
    configuration,
    batches: platform.batches,
    resends: true,
    newId: idMaker(clock.now, platform.randomBytes),
    enqueued(added) {
      if (added.length === 0) return
      const dueAt = added.reduce((earliest, { due_at }) => Math.min(earliest, due_at), Infinity)
      const wake = (): void => jobs.wakeIn(dueAt - clock.now(), 'added')
      if (ownQueue) return wake()
      later.run('handing jobs to the queue', () => queue.add(added).then(wake))
    },
    emit,
  }

  const { services, ingest, deliver } = composeServices(ctx, operationNames)
  const run = workerOnDemand({
    ctx,
    ingest,
    deliver,
    background: later,
    jobs,
    time: movable(options.clock),
    changed,
  })

  return {
    ...serviceFunctions(services),
    admin: adminHandler(ctx, services),
    gateway: gatewayHandler(ctx, routes, ingest),
    statusHandler: statusHandler(ctx, services, measures(on)),
    secrets: services.secrets,
    status: () => services.status(),
    health: () => services.health(),
    on,
    using: (tx, handle) => bind(ctx, tx, handle),
    ...run,
  }
}

async function inMemory(): Promise<Storage> {
  const { memory } = await import('../adapters/memory/index.ts')
  return memory()
}

/** The service functions over the host's transaction: nothing gathered with others, nothing cached, no job before the commit. */
function bind(outer: Context, tx: unknown, handle: { wake?: boolean } | undefined): BoundPosthorn {
  if (outer.storage.using === undefined) {
    throw new PosthornError('transaction_required', `${outer.storage.name} cannot join a transaction of the host`)
  }
  const storage = outer.storage.using(tx, handle)
  const added: Job[] = []
  const secrets = outer.secrets.over(storage)
  const ctx: Context = {
    ...outer,
    storage,
    secrets,
    queue: outer.ownQueue && storage.queue !== undefined ? storage.queue : outer.queue,
    configuration: configurationReader({ ...outer, storage, secrets }, outer.configuration),
    batches: false,
    resends: false,
    enqueued: (jobs) => void added.push(...jobs),
    emit: () => {}, // whether any of it happened is known only after the commit
  }
  const { services } = composeServices(ctx, operationNames)
  const refusing = { ...services, endpoints: { ...services.endpoints, test: noRequests } }
  return {
    ...serviceFunctions(refusing, outer.settings.requireTransaction ? insideTransaction(storage) : undefined),
    committed: async () => outer.enqueued(added.splice(0)),
  }
}

/** A host's transaction is not held open for the time that a receiver takes. */
async function noRequests(): Promise<never> {
  throw new PosthornError('forbidden', 'no request is made inside a transaction')
}

/** Refuses every call on a handle that is outside a transaction, before it writes anything. */
function insideTransaction(storage: BoundStorage): Guard {
  return (call) =>
    async (...args) => {
      if (await storage.inTransaction()) return await call(...args)
      throw new PosthornError('transaction_required', 'the handle given to using() is not inside a transaction')
    }
}

function needed<Part>(part: Part | undefined, name: string, engine: string): Part {
  if (part !== undefined) return part
  throw new PosthornError(
    'validation',
    `createPosthorn: storage ${engine} has no ${name} of its own; pass options.${name}`,
  )
}

/** A fake clock can be moved on; the system's cannot. */
function movable(clock: (Clock & Partial<Movable>) | undefined): Movable | undefined {
  return clock?.advance === undefined ? undefined : (clock as Clock & Movable)
}

function consoleLogger(): Logger {
  // oxlint-disable-next-line no-console -- the default logger is the console
  const { warn, error } = console
  const silent = () => {}
  return {
    debug: silent,
    info: silent,
    warn: (message, details) => (details === undefined ? warn(message) : warn(message, details)),
    error: (message, details) => (details === undefined ? error(message) : error(message, details)),
  }
}
