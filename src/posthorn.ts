import { engineClock, systemClock } from './clock.ts'
import type { Context, Counters } from './context.ts'
import type { Clock } from './contracts/clock.ts'
import type { Logger, Signals } from './contracts/observer.ts'
import type { Platform } from './contracts/platform.ts'
import type { PluginKind, PluginsOf } from './contracts/plugin.ts'
import type { Job } from './contracts/queue.ts'
import type { BoundStorage } from './contracts/storage.ts'
import type { Change } from './contracts/storage/configuration.ts'
import { idMaker } from './core/id.ts'
import { PosthornError } from './errors.ts'
import { type Guard, serviceFunctions, type Tell } from './functions.ts'
import { adminHandler } from './http/admin.ts'
import { gatewayHandler } from './http/gateway.ts'
import { statusHandler } from './http/status.ts'
import { operations } from './operations/table.ts'
import { inside } from './inside.ts'
import type { Options } from './options.ts'
import { parseSettings } from './settings.ts'
import { registry } from './plugins/registry.ts'
import type { AnyEvents } from './schema/catalogue.ts'
import type { PluginInput } from './schema/plugin.ts'
import { background } from './runtime/background.ts'
import { lazy } from './runtime/lazy.ts'
import { ParsingTurns } from './runtime/parsing-turns.ts'
import { ReadingTurns } from './runtime/reading-turns.ts'
import { catalogue } from './services/catalogue.ts'
import { composeServices } from './services/compose.ts'
import { configurationCache, configurationReader } from './services/configuration-cache.ts'
import { configurationRoom } from './services/configuration-room.ts'
import { engineOnDemand } from './services/engine-on-demand.ts'
import { processMetrics } from './services/process-metrics.ts'
import { repeating } from './services/repeating.ts'
import { safeTelemetry } from './services/safe-telemetry.ts'
import { type Operational, operationalOnDemand } from './services/operational/on-demand.ts'
import { observers, safeLogger } from './services/observers.ts'
import { requestLog } from './services/request-log.ts'
import { routeTable } from './services/routes.ts'
import { workspaceIds } from './services/workspace-ids.ts'
import { rowSecrets } from './services/secrets/row-secrets.ts'
import { notifyingStorage } from './services/notifying-storage.ts'
import { tellChange } from './services/tell-change.ts'
import { version } from './version.ts'
import type { BoundPosthorn, Posthorn } from './surface/posthorn.ts'
import { workerOnDemand } from './worker/on-demand.ts'
import { wakeup, type Wakeup } from './worker/wakeup.ts'
import type { Movable } from './worker/needs.ts'

const memoryEngine = lazy(() => import('../adapters/memory/index.ts'))
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
  const engine =
    options.storage ?? engineOnDemand({ name: 'memory', inProcess: true }, async () => (await memoryEngine()).memory())
  const clock = engineClock(options.clock ?? systemClock(), () => engine.time(), log)
  const startedAt = clock.elapsed()
  const queue = needed(options.queue ?? engine.queue, 'queue', engine.name)
  const plugins = registry(options.plugins ?? [])
  const routes = routeTable({ storage: engine, clock, batches: platform.batches })
  const jobs = wakeup(clock)
  const seldom = repeating(clock, log)
  const later = background(seldom)
  const { on, emit } = observers(log)
  const ownQueue = queue === engine.queue

  const storage = notifyingStorage(engine, changed)
  const secrets = rowSecrets({ storage, plugins, platform, clock, log: seldom }, settings)
  const configuration = configurationCache({ storage, plugins, platform, clock, log, secrets })
  function changed(change: Change): void {
    configuration.forget(change)
    if (change === 'routes' || change === 'everything') routes.forget()
  }

  let thisProcess: ReturnType<Context['thisProcess']> | undefined
  let operational: Operational | undefined
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
    telemetry: options.telemetry && safeTelemetry(options.telemetry, seldom),
    plugins,
    secrets,
    catalogue: catalogue(options.events ?? {}, { strict: settings.strictEvents }),
    settings,
    counters: newCounters(),
    requests: requestLog((tenant, request) => operational?.took(tenant, request)),
    thisProcess: () => (thisProcess ??= { id: ctx.newId(), version, runtime: platform.vitals().version }),
    uptimeMs: () => clock.elapsed() - startedAt,
    configuration,
    ...boundsOfTenants(configuration, settings, clock, platform),
    batches: platform.batches,
    resends: true,
    newId: idMaker(clock.now, platform.randomBytes),
    handOff: { to: null, messagesTo: null },
    enqueued(added) {
      ctx.handOff.to?.queued(added)
      const hint = wakeFor(added, jobs, clock)
      if (hint === null || ownQueue) return hint?.()
      later.run('handing jobs to the queue', () => queue.add(added).then(hint))
    },
    resumed: (endpointIds) => resume(ctx, jobs, endpointIds),
    emit,
  }

  const composed = composeServices(ctx, operationNames)
  const { ingest, deliver } = composed
  if (settings.operations !== undefined) operational = operationalOnDemand(ctx, ingest, later, on)
  const worker = { ctx, operational, ingest, deliver, background: later, jobs, time: movable(options.clock), changed }
  const parts = { [inside]: { ctx, services: composed.services } }
  return { ...handlersAndFunctions(ctx, composed, routes, on), ...workerOnDemand(worker), ...parts }
}

/** What keeps a tenant from taking more of the process than others would notice. */
function boundsOfTenants(
  configuration: Context['configuration'],
  { limits }: Context['settings'],
  clock: Context['clock'],
  { batches }: Platform,
): Pick<Context, 'room' | 'parsing' | 'reading'> {
  const room = configurationRoom(configuration, limits.bytes)
  if (batches) return { room, parsing: new ParsingTurns(clock), reading: new ReadingTurns() }
  // On edge runtimes no request may wait for what another one does.
  return { room, parsing: { run: (_, _bytes, parse) => parse() }, reading: { run: (_, _signal, read) => read() } }
}

async function resume({ queue, log }: Context, jobs: Wakeup, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length === 0) return
  try {
    await queue.resume?.(endpointIds)
    jobs.wakeIn(0, 'added')
  } catch (cause) {
    log.warn('resumed endpoints could not be told to the queue; their deliveries begin within ten minutes', { cause })
  }
}

/** All of an instance but what the worker answers to. */
function handlersAndFunctions(
  ctx: Context,
  { services, ingest }: ReturnType<typeof composeServices>,
  routes: ReturnType<typeof routeTable>,
  on: Posthorn['on'],
) {
  on('change', (change) => ctx.log.info(`${change.operation} was called`, { ...change }))
  const telling =
    (actor: string | null): Tell =>
    (change) =>
      tellChange(ctx, { actor, ...change })
  return {
    ...serviceFunctions(services, workspaceIds(ctx), telling(null)),
    as: (actor: string) => serviceFunctions(services, workspaceIds(ctx), telling(actor)),
    admin: adminHandler(ctx, services),
    gateway: gatewayHandler(ctx, routes, ingest),
    statusHandler: statusHandler(ctx, services, processMetrics(on)),
    secrets: services.secrets,
    status: () => services.status(),
    health: () => services.health(),
    on,
    using: (tx: unknown, handle?: { wake?: boolean }) => bind(ctx, tx, handle),
  }
}

function newCounters(): Counters {
  return { inbound: 0, inboundFailed: 0, outbound: 0, outboundFailed: 0, outboundProcessing: 0 }
}

/** Wakes the loop that claims when the first of these jobs falls due. Null where no job was added. */
function wakeFor(added: readonly Job[], jobs: Wakeup, clock: Clock): (() => void) | null {
  if (added.length === 0) return null
  const dueAt = added.reduce((earliest, { due_at }) => Math.min(earliest, due_at), Infinity)
  return () => jobs.wakeIn(dueAt - clock.now(), 'added')
}

/** The service functions over the host's transaction: nothing gathered with others, nothing cached, no job before the commit. */
function bind(outer: Context, tx: unknown, handle: { wake?: boolean } | undefined): BoundPosthorn {
  if (outer.storage.using === undefined) {
    throw new PosthornError('transaction_required', `${outer.storage.name} cannot join a transaction of the host`)
  }
  const storage = outer.storage.using(tx, handle)
  const added: Job[] = []
  const resumed: string[] = []
  const changes: Signals['change'][] = []
  const secrets = outer.secrets.over(storage)
  const configuration = configurationReader({ ...outer, storage, secrets }, outer.configuration)
  const ctx: Context = {
    ...outer,
    storage,
    secrets,
    queue: outer.ownQueue && storage.queue !== undefined ? storage.queue : outer.queue,
    configuration,
    room: configurationRoom(configuration, outer.settings.limits.bytes),
    batches: false,
    resends: false,
    handOff: { to: null, messagesTo: null },
    enqueued: (jobs) => void added.push(...jobs),
    resumed: async (endpointIds) => void resumed.push(...endpointIds),
    emit(name, signal) {
      if (name === 'change') changes.push(signal as Signals['change']) // whether it happened is known only after the commit
    },
  }
  const { services } = composeServices(ctx, operationNames)
  const refusing = { ...services, endpoints: { ...services.endpoints, test: noRequests } }
  return {
    ...serviceFunctions(
      refusing,
      workspaceIds(ctx),
      (change) => tellChange(ctx, { actor: null, ...change }),
      outer.settings.requireTransaction ? insideTransaction(storage) : undefined,
    ),
    async committed() {
      outer.enqueued(added.splice(0))
      await outer.resumed(resumed.splice(0))
      for (const change of changes.splice(0)) outer.emit('change', change)
    },
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
