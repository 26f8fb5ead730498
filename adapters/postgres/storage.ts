import type { BoundStorage, Storage } from '../../src/contracts/storage.ts'
import type { Change } from '../../src/contracts/storage/configuration.ts'
import { PosthornError } from '../../src/errors.ts'
import { adviceOn } from './advice.ts'
import { postgresAttempts } from './attempts.ts'
import { postgresCauses } from './causes.ts'
import { checkHandle, clientOf, isInTransaction, isPool } from './client-of.ts'
import type { PostgresClient, PostgresHandle } from './clients.ts'
import { postgresCollection } from './collection.ts'
import { postgresConfiguration } from './configuration.ts'
import { number } from '../sql/values.ts'
import { type Database, database } from './database.ts'
import { postgresEvents } from './events.ts'
import { postgresInbox } from './inbox.ts'
import { postgresKeyedRequests } from './keyed-requests.ts'
import { postgresLimiter } from './limiter.ts'
import { probe } from './probe.ts'
import { postgresProcesses } from './processes.ts'
import { purge } from './purge.ts'
import { postgresQueue } from './queue.ts'
import { sideBySide } from './side-by-side.ts'
import { sql } from '../sql/sql.ts'
import { postgresStatistics } from './statistics.ts'
import { checkSchema } from './tables.ts'
import { type Listener, listenerOf } from './listener.ts'
import { notifier, type Notify, boundNotifier, type News, notifyAtCommit } from './notify.ts'
import { verify } from './verify.ts'
import { postgresWorkspaces } from './workspaces.ts'

export interface PostgresOptions {
  /** The schema that `migrate` made. Lower-case letters, digits and underscores. Default `posthorn`. */
  readonly schema?: string
  /** Prepare the statements of the hot path. Set it to false behind a pooler such as PgBouncer. Default true. */
  readonly prepare?: boolean
  /**
   * How notifications are received, which saves polls: by the client itself where it can, by another client, or not at
   * all. A `pg` Pool gives up one connection for listening. Default: the client itself; none where `prepare` is false,
   * since poolers do not pass notifications on.
   */
  readonly listen?: PostgresClient['listen'] | false
}

/**
 * Storage, queue, inbox and limiter in one schema of a PostgreSQL (13 or later), over the host's own driver: a `pg`
 * Pool or Client, a postgres.js instance, PGlite, or a few lines around another driver. It opens and closes only the
 * connection on which it listens. Run `migrate` first.
 *
 * `using(tx)` takes what the driver calls a client or a transaction, or any `{ query(text, values) }` around it.
 *
 * @example
 * const pool = new pg.Pool({ connectionString })
 * await migrate(pool)
 * const posthorn = createPosthorn({ storage: postgres(pool) })
 */
export function postgres(
  handle: PostgresHandle,
  { schema = 'posthorn', prepare = true, listen }: PostgresOptions = {},
): Storage & Required<Pick<Storage, 'queue' | 'inbox' | 'limiter' | 'using' | 'verify' | 'advice'>> {
  checkHandle(handle)
  checkSchema(schema)
  const { listen: own, ...client } = clientOf(handle)
  const listening = listen ?? (prepare ? own : undefined)
  const db = database(
    { ...client, ...(listening !== undefined && listening !== false && { listen: listening }) },
    { schema, prepare, bound: false },
  )
  let id: string | undefined
  const origin = (): string => (id ??= crypto.randomUUID()) // not before it is asked: the edge has no randomness while it loads
  const listener = listenerOf(db, origin)
  return {
    ...storageIn(db, notifier(db, origin), listener),
    ...(listener && {
      onChanged: (changed: (change: Change) => void) => listener.on((news) => isChange(news) && changed(news)),
    }),
    using(tx, { wake = true } = {}) {
      if (isHandle(tx) && !isPool(tx)) {
        db.oneRow.ask(db)
        return bound(tx, db, wake)
      }
      throw new PosthornError(
        'transaction_required',
        isHandle(tx)
          ? 'postgres().using takes one client with an open transaction; a pool runs each statement in a transaction of its own'
          : 'postgres().using takes a client or transaction of the driver, or { query(text, values) } around that of a library',
      )
    },
    advice: () => adviceOn(handle),
    close: async () => listener?.close(),
  }
}

function storageIn(db: Database, notify: Notify, listener: Listener | null) {
  const { run, t } = db
  const ping = probe(db)
  const changeRow = sideBySide(db, notify)
  return {
    name: 'postgres',
    workspaces: postgresWorkspaces(db, notify),
    endpoints: postgresCollection('endpoints', db, changeRow),
    sources: postgresCollection('sources', db, changeRow),
    plugins: postgresCollection('plugins', db, changeRow),
    events: postgresEvents(db, notify),
    attempts: postgresAttempts(db, notify),
    statistics: postgresStatistics(db),
    causes: postgresCauses(db),
    processes: postgresProcesses(db),
    keyedRequests: postgresKeyedRequests(db),
    queue: { ...postgresQueue(db, notify, listener), ping },
    inbox: postgresInbox(db, notify, listener),
    limiter: postgresLimiter(db),
    ping,
    ...postgresConfiguration(db, notify),
    purge: (options) => purge(db, options),
    verify: () => verify(db),

    async turn(name, periodMs, now) {
      const rows = await run(sql`
        insert into ${t.turns} as t (name, period) values (${name}::text, ${Math.floor(now / periodMs) * periodMs}::bigint)
        on conflict (name) do update set period = excluded.period where t.period < excluded.period
        returning name`)
      return rows.length > 0
    },

    async time() {
      const [row] = await run(sql`select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now`)
      return number(row!['now']) // one row
    },

    async stats() {
      const pool = db.client.stats?.()
      if (pool !== undefined) return pool
      const [row] = await run(sql`
        select count(*) as total, count(*) filter (where state <> 'idle') as active
        from pg_stat_activity where datname = current_database() and usename = current_user`)
      return { total: number(row!['total']), active: number(row!['active']) } // an aggregate is one row
    },

    close: async () => {},
  } satisfies Storage
}

function bound(tx: PostgresHandle, { schema, oneRow }: Database, wake: boolean): BoundStorage {
  const { listen: _listen, ...client } = clientOf(tx)
  const db = database(client, {
    schema,
    prepare: false,
    bound: true,
    woken: notifyAtCommit(schema, wake),
    oneRow,
  })
  const now = async () => (await db.run(sql`select now()::text as now`))[0]?.['now']
  let seen: unknown
  return {
    ...storageIn(db, boundNotifier(db, wake), null),

    // Inside a transaction the time stands still; outside, each statement is a transaction.
    async inTransaction() {
      if (isInTransaction(tx)) return true
      const first = await now()
      if (first === seen) return true
      seen = await now()
      return first === seen
    },
  }
}

function isHandle(tx: unknown): tx is PostgresHandle {
  if ((typeof tx !== 'object' && typeof tx !== 'function') || tx === null) return false
  // Drizzle's has a `query` that is no function.
  const { query, unsafe } = tx as { query?: unknown; unsafe?: unknown }
  return typeof query === 'function' || typeof unsafe === 'function'
}

function isChange(news: News): news is Change {
  return news !== 'jobs' && news !== 'messages'
}
