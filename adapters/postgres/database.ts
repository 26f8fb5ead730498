import type { Row } from '../sql/values.ts'
import type { PostgresClient } from './clients.ts'
import { isAborted, isSerialization, lateError, mayBeSentAgain, translated } from './errors.ts'
import { type Sql, textOf, type Value } from '../sql/sql.ts'
import { type Tables, tables } from './tables.ts'
import { defaultTimeoutMs, letExit } from './timers.ts'
import { autovacuum } from './autovacuum.ts'
import { OneRow } from './one-row.ts'

/** One schema of a PostgreSQL, and how to ask it. */
export interface Database {
  readonly client: PostgresClient
  readonly schema: string
  readonly t: Tables
  /** Whether all of it runs in a transaction of the host. */
  readonly bound: boolean
  /**
   * Inside a transaction of the host: the text that ends the last query of a statement that adds jobs, so that workers
   * wake at the commit. A rollback to a savepoint takes it back with the jobs. Null elsewhere.
   */
  readonly woken: Sql | null
  /** Where new open attempts stand. Shared with the databases that run in transactions of the host. */
  readonly oneRow: OneRow
  /** Runs a statement whose text is always the same, so that it is worth preparing. */
  run(statement: Sql, patience?: Patience): Promise<readonly Row[]>
  /** Runs a statement whose text differs from call to call. */
  ask(statement: Sql, patience?: Patience): Promise<readonly Row[]>
  /** Called with how many rows went through the hot path, so that upkeep comes in time; with Infinity it comes at once. */
  passed(rows: number): void
}

interface DatabaseOptions extends Pick<Database, 'schema' | 'bound'>, Partial<Pick<Database, 'woken' | 'oneRow'>> {
  readonly prepare: boolean
}

/** How long a statement may take, milliseconds. */
export interface Patience {
  /** The wait for a connection included. Default 20,000. */
  readonly timeoutMs?: number
  /** Once the server has it. Default 8,000 for what is prepared, which is small, and `timeoutMs` for all else. */
  readonly answerMs?: number
  /** It cannot run inside a transaction. */
  readonly outside?: boolean
  /** It needs READ COMMITTED from the first time on: under another isolation it would not fail, but see what is past. */
  readonly readCommitted?: boolean
}

/** A worker is to notice soon that nobody answers any more on a connection. */
export const smallAnswerMs = 8_000
/** Clients keep to the time themselves, and end a statement on the server too; this is for those that do not. */
const spareMs = 1_000
/** Inside a transaction of the host the answer of the server is waited for, once the statement is canceled. */
const spareOfHostsMs = 7_000
const pausesMs = [5, 20, 60]

export function database(
  client: PostgresClient,
  { schema, prepare, bound, woken = null, oneRow = new OneRow() }: DatabaseOptions,
): Database {
  // Statements are written for READ COMMITTED. When a statement fails because another isolation is the default, each
  // later statement states the isolation, which costs two round trips more.
  let statesIsolation = false
  const send = async (
    statement: Sql,
    prepared: boolean,
    { outside = false, readCommitted = false, ...patience }: Patience,
  ): Promise<readonly Row[]> => {
    const text = textOf(statement)
    const options = {
      timeoutMs: defaultTimeoutMs,
      ...patience,
      ...(prepared && { name: nameOf(text) }),
      ...((readCommitted || statesIsolation) && !outside && { isolation: 'read committed' as const }),
    }
    try {
      const answer = client.query(text, statement.values as Value[], options).then(({ rows }) => rows)
      return await within(options.timeoutMs + (bound ? spareOfHostsMs : spareMs), answer)
    } catch (error) {
      throw translated(error, schema)
    }
  }
  const insist = async (statement: Sql, prepared: boolean, patience: Patience): Promise<readonly Row[]> => {
    for (const pauseMs of pausesMs) {
      try {
        return await send(statement, prepared, patience)
      } catch (error) {
        if (!mayBeSentAgain(error)) throw error
        if (isSerialization(error)) statesIsolation = true
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    }
    return send(statement, prepared, patience)
  }
  const once = bound ? firstError(send) : insist
  const t = tables(schema)
  const ask = (statement: Sql, patience: Patience = {}): Promise<readonly Row[]> => once(statement, false, patience)
  return {
    client,
    schema,
    t,
    bound,
    woken,
    oneRow,
    run: (statement, patience) => once(statement, prepare && !bound, { answerMs: smallAnswerMs, ...patience }),
    ask,
    // What is not prepared is planned anew each time.
    passed: prepare && !bound ? autovacuum({ ask, schema, t }) : () => {},
  }
}

/**
 * Inside a transaction of the host nothing can follow an error but a rollback, so nothing is sent again. What follows all
 * the same is refused with 25P02, which says only that an earlier statement failed: the error of that statement is thrown instead.
 */
function firstError<Args extends unknown[], Answer>(send: (...args: Args) => Promise<Answer>) {
  let first: unknown = null
  return async (...args: Args): Promise<Answer> => {
    try {
      const answer = await send(...args)
      first = null // the host rolled back to a savepoint
      return answer
    } catch (error) {
      if (isAborted(error)) throw first ?? error
      first = error
      throw error
    }
  }
}

/** Rejects when the answer takes too long. The statement may still take effect: all of ours can be sent again. */
async function within<Answer>(ms: number, answer: Promise<Answer>): Promise<Answer> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(lateError()), ms)
    letExit(timer)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

const names = new Map<string, string>()

/** A name that stands for the text: two 32-bit FNV-1a hashes, one from each end of the text. */
function nameOf(text: string): string {
  let name = names.get(text)
  if (name === undefined) {
    let forth = 0x811c9dc5
    let back = 0x811c9dc5
    for (let i = 0; i < text.length; i++) {
      forth = Math.imul(forth ^ text.charCodeAt(i), 0x01000193)
      back = Math.imul(back ^ text.charCodeAt(text.length - 1 - i), 0x01000193)
    }
    name = `posthorn_${(forth >>> 0).toString(36)}_${(back >>> 0).toString(36)}`
    names.set(text, name)
  }
  return name
}
