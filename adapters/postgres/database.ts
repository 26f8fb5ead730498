import { PosthornError } from '../../src/errors.ts'
import type { PostgresClient, Row } from './clients.ts'
import { isRetryable, translated } from './errors.ts'
import { type Sql, textOf, type Value } from './sql.ts'
import { type Tables, tables } from './tables.ts'
import { letExit } from './timers.ts'
import { upkeep } from './upkeep.ts'

/** One schema of a PostgreSQL, and how to ask it. */
export interface Database {
  readonly client: PostgresClient
  readonly schema: string
  readonly t: Tables
  /** Whether all of it runs in a transaction of the host. */
  readonly bound: boolean
  /** Runs one statement that is always of the same text, so that it is worth preparing. */
  run(statement: Sql): Promise<readonly Row[]>
  /** Runs one statement whose text differs from call to call. */
  ask(statement: Sql): Promise<readonly Row[]>
  /** Is told how many rows went through the hot path, so that upkeep comes in time. */
  passed(rows: number): void
}

/** No statement takes longer, the wait for a connection included. */
const deadlineMs = 20_000
const pausesMs = [5, 20, 60]

export function database(
  client: PostgresClient,
  { schema, prepare, bound }: { schema: string; prepare: boolean; bound: boolean },
): Database {
  const send = async (statement: Sql, prepared: boolean): Promise<readonly Row[]> => {
    const text = textOf(statement)
    const options = { timeoutMs: deadlineMs, ...(prepared && { name: nameOf(text) }) }
    try {
      return await within(client.query(text, statement.values as Value[], options).then(({ rows }) => rows))
    } catch (error) {
      throw translated(error, schema)
    }
  }
  const insist = async (statement: Sql, prepared: boolean): Promise<readonly Row[]> => {
    for (const pauseMs of pausesMs) {
      try {
        return await send(statement, prepared)
      } catch (error) {
        // Inside a transaction of the host nothing can follow a failure but its rollback.
        if (bound || !(error instanceof PosthornError) || !isRetryable(error.cause)) throw error
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    }
    return send(statement, prepared)
  }
  const t = tables(schema)
  const ask = (statement: Sql): Promise<readonly Row[]> => insist(statement, false)
  return {
    client,
    schema,
    t,
    bound,
    run: (statement) => insist(statement, prepare && !bound),
    ask,
    // What is not prepared is planned anew each time.
    passed: prepare && !bound ? upkeep({ ask, schema, t }) : () => {},
  }
}

/** Rejects when the answer takes too long. The statement may still take effect: all of ours can be sent again. */
async function within<Answer>(answer: Promise<Answer>): Promise<Answer> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new PosthornError('unavailable', 'PostgreSQL did not answer in time')), deadlineMs)
    letExit(timer)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

const names = new Map<string, string>()

/** A name that stands for the text: two 32-bit FNV-1a hashes of it, one from each end. */
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

/** Rows as one JSON parameter. */
export function json(rows: unknown): string {
  return JSON.stringify(rows)
}

/** 64-bit integers come as text, numbers or bigints, by driver; ours are below 2^53. */
export function number(value: unknown): number {
  return Number(value)
}

export function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value)
}
