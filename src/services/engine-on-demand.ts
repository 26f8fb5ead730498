import type { EnginePart } from '../contracts/engine.ts'
import type { Inbox } from '../contracts/inbox.ts'
import type { Limiter } from '../contracts/limiter.ts'
import type { Queue } from '../contracts/queue.ts'
import type { Attempts } from '../contracts/storage/attempts.ts'
import type { Causes } from '../contracts/storage/causes.ts'
import type { BoundStorage, Storage } from '../contracts/storage.ts'
import type { Collection, Workspaces } from '../contracts/storage/configuration.ts'
import type { Events } from '../contracts/storage/events.ts'
import type { ListQuery } from '../contracts/storage/list.ts'
import { lazy } from '../runtime/lazy.ts'
import type { KeyedRequests } from '../contracts/storage/keyed-requests.ts'
import type { Processes } from '../contracts/storage/processes.ts'
import type { Statistics } from '../contracts/storage/statistics.ts'

/** What an engine that is loaded on demand has: everything, but nothing to verify, to ping or to warn of. */
type Engine = Omit<Storage, 'verify' | keyof EnginePart> &
  Required<Pick<Storage, 'queue' | 'inbox' | 'limiter' | 'onChanged' | 'using'>>
type Calls<Part> = {
  readonly [Name in Exclude<keyof Part, keyof EnginePart>]-?: Part[Name] extends
    | ((...args: never[]) => unknown)
    | undefined
    ? true
    : never
}

const collection = { insert: true, get: true, list: true, update: true, delete: true } satisfies Calls<
  Collection<object, ListQuery>
>
const workspaces = { ...collection, find: true } satisfies Calls<Workspaces>
const events = { ingest: true, get: true, list: true, timeline: true, erase: true } satisfies Calls<Events>
const attempts = {
  load: true,
  settle: true,
  add: true,
  get: true,
  list: true,
  overdue: true,
  undelivered: true,
  missing: true,
  ofEvents: true,
  tallies: true,
} satisfies Calls<Attempts>
const statistics = { fold: true, sums: true, groups: true, streak: true, tidy: true } satisfies Calls<Statistics>
const causes = { add: true, list: true, remove: true } satisfies Calls<Causes>
const processes = { seen: true, list: true } satisfies Calls<Processes>
const keyedRequests = { take: true, update: true, release: true, forget: true } satisfies Calls<KeyedRequests>
const queue = {
  add: true,
  claim: true,
  extend: true,
  release: true,
  complete: true,
  pause: true,
  stats: true,
  resume: true,
  pausedUntil: true,
  dueOf: true,
  nextDueAt: true,
  onAdded: true,
} satisfies Calls<Omit<Queue, 'ping' | 'takesLeases'>>
const inbox = {
  put: true,
  take: true,
  done: true,
  release: true,
  bury: true,
  size: true,
  onPut: true,
} satisfies Calls<Inbox>
const limiter = { take: true } satisfies Calls<Limiter>
const own = {
  configuration: true,
  configurationSince: true,
  routes: true,
  applyConfig: true,
  purge: true,
  turn: true,
  onChanged: true,
  time: true,
  ping: true,
  stats: true,
  close: true,
} satisfies Partial<Calls<Storage>>

/** What is known of the storage before it is loaded. */
type Known = Pick<Storage, 'name' | 'inProcess'>

/** A part that is loaded by now, or a promise of the part. */
type Source<Part> = () => Part | Promise<Part>

/** The storage that `load` makes, loaded when something is first asked of it: those who bring their own never load it. */
export function engineOnDemand(known: Known, load: () => Promise<Storage>): Engine {
  const engine = lazy(load)
  return {
    ...storageOf(known, engine),
    // The host gets the engine at once; if the handle is unusable, the first call says so.
    using: (tx, options) =>
      boundOf(
        known,
        lazy(async () => (await engine()).using!(tx, options)),
      ),
  }
}

function boundOf(known: Known, bound: Source<BoundStorage>): BoundStorage {
  return { ...storageOf(known, bound), ...deferred<BoundStorage, 'inTransaction'>({ inTransaction: true }, bound) }
}

function storageOf(known: Known, engine: Source<Storage>): Omit<Engine, 'using'> {
  const part = <Key extends keyof Storage>(key: Key): Source<NonNullable<Storage[Key]>> => {
    return () => {
      const there = engine()
      return there instanceof Promise ? there.then((loaded) => loaded[key]!) : there[key]! // see Engine
    }
  }
  return {
    ...known,
    ...deferred(own, engine),
    workspaces: deferred(workspaces, part('workspaces')),
    endpoints: deferred(collection, part('endpoints')),
    sources: deferred(collection, part('sources')),
    plugins: deferred(collection, part('plugins')),
    events: deferred(events, part('events')),
    attempts: deferred(attempts, part('attempts')),
    statistics: deferred(statistics, part('statistics')),
    causes: deferred(causes, part('causes')),
    processes: deferred(processes, part('processes')),
    keyedRequests: deferred(keyedRequests, part('keyedRequests')),
    queue: { ...deferred(queue, part('queue')), takesLeases: true },
    inbox: deferred(inbox, part('inbox')),
    limiter: deferred(limiter, part('limiter')),
  }
}

/**
 * Functions that pass their calls on to functions of the same name: at once if these are loaded, else once they are.
 */
function deferred<Part extends object, Name extends keyof Part>(
  names: Readonly<Record<Name, true>>,
  of: Source<Part>,
): Required<Pick<Part, Name>> {
  const passOn = (name: string) =>
    function (...args: unknown[]): unknown {
      const call = (part: Part): unknown => (part as Record<string, (...all: unknown[]) => unknown>)[name]!(...args)
      const part = of()
      return part instanceof Promise ? part.then(call) : call(part)
    }
  // One function for each name: `names` lists functions that answer promises.
  return Object.fromEntries(Object.keys(names).map((name) => [name, passOn(name)])) as Required<Pick<Part, Name>>
}
