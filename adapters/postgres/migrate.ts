import { PosthornError } from '../../src/errors.ts'
import { buildIndexes, fillRows } from './build-indexes.ts'
import { clientOf } from './client-of.ts'
import type { PostgresHandle } from './clients.ts'
import { database, type Database } from './database.ts'
import { codeOf } from './errors.ts'
import { type Holder, inTheWay } from './lock-holders.ts'
import { migrationText, newer, wrongEncoding } from './migration-text.ts'
import { migrations } from './migrations.ts'
import { raw } from '../sql/sql.ts'
import { checkSchema } from './tables.ts'
import { encodingText, latestSchemaVersion, versionsOf } from './verify.ts'

export interface MigrateOptions {
  /** Lower-case letters, digits and underscores. Default `posthorn`. */
  readonly schema?: string
  /**
   * How long a step tries to lock the tables that it changes, milliseconds. Others queue behind it for half a second at a
   * time. Default 5,000.
   */
  readonly lockTimeoutMs?: number
  /** How long all is tried, milliseconds. Default 60,000. */
  readonly timeoutMs?: number
}

/** A lock was not to be had. */
const inUse = '55P03'
const pauseMs = 1_000
/** A transaction that is in the way for so long is not waited for any longer: it is a dump, or was left open. */
const patienceWithOneMs = 10_000
/** The work of a step, once the step has its locks, may take long. */
const workMs = 3_600_000

/**
 * Creates the schema and its tables, or brings them up to date, and makes the workspace `default`. Each step is one
 * statement: all of it or nothing. Any number of processes may call it at once; the first does the work and the others
 * wait for it. Indexes of existing tables are built before their step, each separately, while others write. The next
 * call builds an index anew whose building broke off.
 *
 * The last step is left for a later call while a process of the version before was seen in the last five minutes, and for
 * five minutes in any case, unless the schema is made just now. Everything works without it, a little slower.
 *
 * What rights the role needs, to migrate and to run, is in docs/postgres-roles.md.
 *
 * It may run beside processes of the version before. A step locks the tables that it changes for milliseconds, once no
 * transaction that used them is open. It waits for these as long as `lockTimeoutMs` says, gives way, and tries again. It
 * gives up after `timeoutMs`, or when one transaction was in the way for more than ten seconds, and leaves nothing that
 * waits on the server.
 *
 * @throws PosthornError `unavailable` when the schema is of a newer version than this package knows, when the database
 * has another encoding than UTF8, and when it cannot get a lock: then the message says whose lock is in the way.
 * @example await migrate(pool, { schema: 'webhooks' })
 */
export async function migrate(
  handle: PostgresHandle,
  { schema = 'posthorn', lockTimeoutMs = 5_000, timeoutMs = 60_000 }: MigrateOptions = {},
): Promise<void> {
  checkSchema(schema)
  const db = database(clientOf(handle), { schema, prepare: false, bound: false })
  const giveUpAt = performance.now() + timeoutMs
  const seen = new Map<string, number>()
  for (;;) {
    const { latest } = await versionsOf(db)
    if (latest >= latestSchemaVersion) return
    // Nobody uses a schema that does not exist yet.
    const steps = migrations.filter(({ version }) => version > latest).slice(0, latest === 0 ? undefined : 1)
    try {
      if (latest > 0) {
        await fillRows(db, steps[0]!) // the step that is due
        await buildIndexes(db, steps[0]!)
      }
      await db.ask(raw(migrationText({ schema, lockTimeoutMs, steps })), { timeoutMs: workMs, readCommitted: true })
      if (steps.some(({ waitsUntil }) => waitsUntil !== undefined)) return // done, or left for a later call
    } catch (error) {
      const cause = error instanceof PosthornError ? codeOf(error.cause) : ''
      if (cause === wrongEncoding) throw new PosthornError('unavailable', await encodingText(db), { cause: error })
      if (cause === newer) continue // the next round says so
      if (cause !== inUse) {
        if (await isPast(db, latest)) continue // another process has made the same meanwhile
        throw error
      }
      const holders = await inTheWay(db, steps[0]!)
      const longest = longestOf(holders, seen)
      if (longest !== null || performance.now() + pauseMs >= giveUpAt) {
        throw new PosthornError('unavailable', inUseText(db, longest ?? holders[0]), { cause: error })
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}

/** Whether the schema is of a later version by now. In a transaction of the host nothing can be asked after a refusal. */
function isPast(db: Database, version: number): Promise<boolean> {
  return versionsOf(db).then(
    ({ latest }) => latest > version,
    () => false,
  )
}

/** A holder that was in the way at each try for longer than it is waited for. */
function longestOf(holders: readonly Holder[], seen: Map<string, number>): Holder | null {
  const now = performance.now()
  const there = new Set(holders.map(({ transaction }) => transaction))
  for (const transaction of seen.keys()) if (!there.has(transaction)) seen.delete(transaction)
  for (const transaction of there) if (!seen.has(transaction)) seen.set(transaction, now)
  return holders.find(({ transaction }) => now - seen.get(transaction)! >= patienceWithOneMs) ?? null
}

/**
 * What `migrate` runs, as text, for those who keep migrations elsewhere (Flyway, Prisma, Drizzle): one statement that
 * may be run again at any time. It fails with 55P03 when a table is in use for five seconds.
 *
 * @example writeFileSync('migrations/42-posthorn.sql', migrationSql())
 */
export function migrationSql({ schema = 'posthorn' }: { schema?: string } = {}): string {
  checkSchema(schema)
  return migrationText({ schema, lockTimeoutMs: 5_000, steps: migrations })
}

function inUseText({ schema }: Database, holder: Holder | undefined): string {
  if (holder === undefined) return `Another migration of the schema "${schema}" is under way: run migrate() again`
  const { pid, mode, table } = holder
  return `"${schema}".${table} could not be changed: the open transaction of backend ${pid} holds ${mode} on it. End it, or wait for its end, and run migrate() again`
}
