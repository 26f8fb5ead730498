import type { Row } from '../sql/values.ts'
import type { PgClient, PgPool, PgListener, PostgresClient, QueryOptions } from './clients.ts'
import { lateError, sqlState } from './errors.ts'
import { cancelPg } from './pg-cancel.ts'
import { checkOut } from './pg-check-out.ts'
import { pgListen } from './pg-listen.ts'
import { type StatementWatch, watchIdleConnections } from './idle-connections.ts'
import { defaultTimeoutMs, quietly, settled } from './timers.ts'

/** How long a server has, after the cancel request, to end a statement. Then the connection counts as lost. */
const endsWithinMs = 3_000

/** A single client of `pg`: most often a transaction of the host. */
export function pgClient(client: PgClient): PostgresClient {
  return {
    async query(text, values, { name, timeoutMs = defaultTimeoutMs, answerMs = timeoutMs } = {}) {
      const running = ask(client, { text, values, name })
      return await unlessLate(running, answerMs, async () => {
        // The host goes on with this client: it is to get the server's own answer, which is that of the canceled statement.
        await quietly(cancelPg(client), endsWithinMs)
        await settled(running, endsWithinMs)
      })
    },
  }
}

/**
 * A pool of `pg`. A statement that is given up is canceled on the server. The statement's connection goes back to the
 * pool when the server has said that the statement ended; if no answer comes, the connection is closed.
 */
export function pgPool(pool: PgPool): PostgresClient {
  const max = (pool as { options?: { max?: number } }).options?.max ?? Infinity
  const watch = watchIdleConnections((ms) => Promise.all(Array.from({ length: pool.idleCount }, () => prove(pool, ms))))
  return {
    query: (text, values, options = {}) => onPool(pool, { text, values, name: options.name }, options, watch),
    stats: () => ({ total: pool.totalCount, active: pool.totalCount - pool.idleCount }),
    // A pool of one connection cannot spare it for listening.
    ...(max > 1 && { listen: (...asked) => pgListen(pool, ...asked) }),
  }
}

/** What `pg` takes; the typed overloads of `pg` hide it. */
interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  readonly name: string | undefined
}

function ask(client: unknown, statement: Statement): Promise<{ rows: Row[] }> {
  return (client as { query(statement: Statement): Promise<{ rows: Row[] }> }).query(statement)
}

async function onPool(
  pool: PgPool,
  statement: Statement,
  { timeoutMs = defaultTimeoutMs, answerMs = timeoutMs, isolation }: QueryOptions,
  watch: StatementWatch,
): Promise<{ rows: Row[] }> {
  const began = performance.now()
  const { client, giveBack } = await checkOut(pool, timeoutMs)
  const left = Math.max(timeoutMs - (performance.now() - began), 0)
  const answered = watch()
  let isGivenUp = false
  const running = isolation === undefined ? ask(client, statement) : isolated(client, isolation, statement)
  running.then(
    () => isGivenUp || giveBack(true),
    (error: unknown) => isGivenUp || giveBack(isOfStatement(error)),
  )
  return await unlessLate(running, Math.min(answerMs, left), async () => {
    isGivenUp = true
    void endOnServer(client, running).then(giveBack)
    return Promise.resolve()
  }).finally(answered)
}

/** Asks a client of the pool for an answer, and closes it when it is silent. */
async function prove(pool: PgPool, withinMs: number): Promise<void> {
  const { client, giveBack } = await checkOut(pool, withinMs)
  giveBack(await quietly(ask(client, { text: 'select 1', values: [], name: undefined }), withinMs))
}

/** Runs a statement in a separate transaction with this isolation. */
async function isolated(client: PgListener, isolation: string, statement: Statement): Promise<{ rows: Row[] }> {
  await client.query(`begin isolation level ${isolation}`)
  try {
    const answer = await ask(client, statement)
    await client.query('commit')
    return answer
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

/** Ends what a client runs. Answers whether the connection is good: the request was taken, and the server has answered. */
async function endOnServer(client: PgListener, running: Promise<unknown>): Promise<boolean> {
  const [isTaken, hasEnded] = await Promise.all([
    quietly(cancelPg(client), endsWithinMs),
    settled(running, endsWithinMs),
  ])
  // A request that is still on its way could end the next statement instead.
  return isTaken && hasEnded
}

/** What comes of a statement. After `ms` it is given up by `giveUp`, and late unless it has ended then. */
async function unlessLate<Answer>(running: Promise<Answer>, ms: number, giveUp: () => Promise<void>): Promise<Answer> {
  if (await settled(running, ms)) return await running
  await giveUp()
  return await Promise.race([running, Promise.reject(lateError())])
}

/** Whether the server refused the statement, so that the connection is as good as before. */
function isOfStatement(error: unknown): boolean {
  const state = sqlState(error)
  return state !== null && !/^(08|57P)/.test(state)
}
