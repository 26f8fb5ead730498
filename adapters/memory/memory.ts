import type { BoundStorage, Storage } from '../../src/contracts/storage.ts'
import type { Change } from '../../src/contracts/storage/configuration.ts'
import { systemClock } from '../../src/clock.ts'
import { PosthornError } from '../../src/errors.ts'
import { memoryAttempts } from './attempts.ts'
import { memoryCollection } from './collection.ts'
import { memoryConfiguration } from './configuration.ts'
import { memoryCauses } from './causes.ts'
import { memoryEvents } from './events.ts'
import { memoryInbox } from './inbox.ts'
import { memoryKeyedRequests } from './keyed-requests.ts'
import { memoryLimiter } from './limiter.ts'
import { memoryProcesses } from './processes.ts'
import { memoryQueue } from './queue.ts'
import { purge } from './purge.ts'
import { type Access, emptyState, noNews, quiet } from './state.ts'
import { memoryStatistics } from './statistics.ts'
import { type Base, isMemoryTransaction, type MemoryTransaction, otherClaim, stagedAccess } from './transaction.ts'
import { memoryWorkspaces } from './workspaces.ts'

export interface MemoryOptions {
  /**
   * The most finished attempts, and the most events without open attempts, that memory holds; the oldest are removed
   * first. Default 100,000.
   */
  readonly keep?: number
}

/**
 * The storage of this process, with a queue, an inbox and a limiter. It ends with the process.
 *
 * @example const posthorn = createPosthorn({ storage: memory({ keep: 1000 }) })
 */
export function memory({ keep = 100_000 }: MemoryOptions = {}): Storage &
  Required<Pick<Storage, 'queue' | 'inbox' | 'limiter'>> {
  const changed = listeners<Change>()
  const jobsAdded = listeners<'elsewhere'>()
  const messagesPut = listeners<void>()
  const limiter = memoryLimiter()

  const base: Base = {
    state: emptyState(),
    version: 0,
    claimed: new Map(),
    tell() {
      const { changes, jobs, messages } = base.state.news
      base.state.news = noNews()
      for (const change of changes) changed.tell(change)
      if (jobs) jobsAdded.tell('elsewhere')
      if (messages) messagesPut.tell()
    },
  }
  const access: Access = {
    read: async (look) => look(base.state),
    async write(change, uniqueIds = []) {
      for (let other = otherClaim(base, uniqueIds, null); other; other = otherClaim(base, uniqueIds, null)) await other
      const answer = change(base.state)
      base.version++
      base.tell()
      return answer
    },
  }

  const queue = memoryQueue(access, jobsAdded.listen)
  const inbox = memoryInbox(access, messagesPut.listen)
  const shared = { inbox, limiter, onChanged: changed.listen, time: steadyTime(), ...nothingToOpen }
  const staged = new WeakMap<MemoryTransaction, Access>()

  return {
    ...shared,
    ...nouns(access, keep),
    queue,

    using(tx, { wake = true } = {}): BoundStorage {
      if (!isMemoryTransaction(tx)) {
        throw new PosthornError('transaction_required', 'memory().using takes the tx of memoryTransaction()')
      }
      const bound = staged.get(tx) ?? stagedAccess(base, tx)
      staged.set(tx, bound)
      const own = wake ? bound : quiet(bound)
      return { ...shared, ...nouns(own, keep), queue: memoryQueue(own), inTransaction: async () => tx.open }
    },
  }
}

/**
 * The time of this engine: the wall clock when it was asked first, and what has passed since then. A wall clock that is
 * set later would otherwise make due times and leases wrong by as much.
 */
function steadyTime(): () => Promise<number> {
  const { now, elapsed } = systemClock()
  let origin: number | undefined
  return async () => Math.floor((origin ??= now() - elapsed()) + elapsed())
}

/** What a storage without connections answers about connections. */
const nothingToOpen = {
  ping: async () => {},
  stats: async () => ({ total: 0, active: 0 }),
  close: async () => {},
} satisfies Partial<Storage>

function nouns(access: Access, keep: number) {
  return {
    name: 'memory',
    inProcess: true,
    workspaces: memoryWorkspaces(access),
    endpoints: memoryCollection('endpoints', access),
    sources: memoryCollection('sources', access),
    plugins: memoryCollection('plugins', access),
    events: memoryEvents(access, keep),
    attempts: memoryAttempts(access, keep),
    statistics: memoryStatistics(access),
    causes: memoryCauses(access),
    processes: memoryProcesses(access),
    keyedRequests: memoryKeyedRequests(access),
    ...memoryConfiguration(access),
    purge: (options) => access.write((state) => purge(state, options)),
    turn: (name, periodMs, now) =>
      access.write((state) => {
        const start = Math.floor(now / periodMs) * periodMs
        if (start <= (state.turns.get(name) ?? -Infinity)) return false
        state.turns.set(name, start)
        return true
      }),
  } satisfies Partial<Storage>
}

function listeners<News>() {
  const all = new Set<{ readonly call: (news: News) => void }>()
  return {
    tell(news: News): void {
      for (const { call } of all) call(news)
    },
    async listen(call: (news: News) => void): Promise<() => Promise<void>> {
      const listener = { call }
      all.add(listener)
      return async () => void all.delete(listener)
    },
  }
}
