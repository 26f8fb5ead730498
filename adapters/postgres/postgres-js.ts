import type { Row } from '../sql/values.ts'
import type { PostgresClient, PostgresJs, QueryOptions } from './clients.ts'
import { lateError } from './errors.ts'
import { type Connections, connections, type Pending, type Sending } from './postgres-js-connections.ts'
import { type StatementWatch, watchIdleConnections } from './idle-connections.ts'
import type { Value } from '../sql/sql.ts'
import { defaultTimeoutMs, settled } from './timers.ts'

/** How long a server has, after the cancel request, to end a statement. Then the connection counts as lost. */
const endsWithinMs = 3_000

/** A statement that waits behind others is canceled when its turn comes, if that happens within this time. */
const activeWithinMs = 60_000
const lookEveryMs = 50

/** An instance or a transaction, and the connections of the instance. */
interface Asked {
  readonly instance: PostgresJs
  readonly known: Connections
  readonly watch: StatementWatch
}

/**
 * postgres.js. A statement that is given up is canceled on the server. A connection on which no answer comes then is
 * closed: postgres.js would send further statements on it.
 */
export function postgresJs(instance: PostgresJs): PostgresClient {
  const known = connections()
  const proveIdle = (ms: number) => Promise.all(Array.from({ length: known.idle() }, () => prove(instance, known, ms)))
  // Inside a transaction nothing is asked but what the host asks.
  const watch: StatementWatch = isTransaction(instance) ? () => () => {} : watchIdleConnections(proveIdle)
  const here: Asked = { instance, known, watch }
  return {
    query: (text, values, { isolation, ...options } = {}) => {
      const isOwn = isolation === undefined || instance.reserve === undefined
      return isOwn
        ? ask(here, text, values, options)
        : isolated(instance, isolation, (tx) => ask({ ...here, instance: tx }, text, values, options))
    },
    ...(typeof instance.listen === 'function' && { listen: listener(instance) }),
  }
}

/** Runs a statement on a separate connection, in a transaction with this isolation. */
async function isolated<Answer>(
  instance: PostgresJs,
  isolation: string,
  work: (tx: PostgresJs) => Promise<Answer>,
): Promise<Answer> {
  const tx = await instance.reserve!() // it was looked for
  try {
    await tx.unsafe(`begin isolation level ${isolation}`)
    try {
      const answer = await work(tx)
      await tx.unsafe('commit')
      return answer
    } catch (error) {
      await tx.unsafe('rollback')
      throw error
    }
  } finally {
    tx.release()
  }
}

function ask(
  { instance, known, watch }: Asked,
  text: string,
  values: Value[],
  { name, timeoutMs = defaultTimeoutMs, answerMs = timeoutMs }: QueryOptions,
): Promise<{ rows: Row[] }> {
  return new Promise((resolve, reject) => {
    let answerTimer: ReturnType<typeof setTimeout> | undefined
    let answered = (): void => {}
    const { pending, sending } = known.send(instance, text, values.map(withoutArray), {
      prepare: name !== undefined,
      takesMore: true,
      sent() {
        answerTimer = setTimeout(giveUp, answerMs)
        answered = watch()
      },
    })
    const timer = setTimeout(giveUp, timeoutMs)
    const done = (): void => {
      clearTimeout(timer)
      clearTimeout(answerTimer)
      answered()
    }
    function giveUp(): void {
      done()
      void cancel(pending, sending).then(() => reject(lateError()))
      if (!isTransaction(instance)) reject(lateError())
    }
    pending.then(
      (rows) => {
        done()
        resolve({ rows: rows as Row[] }) // objects, as rows are unless asked otherwise
      },
      (cause: Error) => {
        done()
        reject(cause)
      },
    )
  })
}

/** An idle connection begins with a statement within this time. */
const beginsWithinMs = 100

/** Asks an idle connection for an answer, and closes it when it is silent. */
async function prove(instance: PostgresJs, known: Connections, withinMs: number): Promise<void> {
  const { pending, sending } = known.send(instance, 'select 1', [], { prepare: false, takesMore: false })
  if (await settled(pending, beginsWithinMs)) return
  // Where no connection was idle, the statement waits for a new connection, or behind a statement of the host.
  const wasIdle = pending.active === true
  if (!(await settled(pending, withinMs - beginsWithinMs)) && wasIdle) sending.connection()?.terminate?.()
}

/**
 * An array as the text that PostgreSQL reads. postgres.js can send arrays only once it has asked for their types, which a
 * pool with `fetch_types: false` does not.
 */
function withoutArray(value: Value): string | number | null {
  if (value === null || typeof value !== 'object') return value
  return `{${value.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`
}

/** Inside a transaction the host is to get the answer of the server, which is that of the canceled statement. */
export function isTransaction(instance: object): boolean {
  return 'savepoint' in instance
}

async function cancel(pending: Pending, sending: Sending): Promise<void> {
  // Not before the server works on this statement: postgres.js would take the answer to the cancel request for the
  // answer to the next statement.
  for (let waited = 0; pending.active === false && waited < activeWithinMs; waited += lookEveryMs) {
    if (await settled(pending, lookEveryMs)) return
  }
  if (pending.active === false) return
  askToEnd(pending).catch(() => {}) // what it was to end is looked at instead
  if (!(await settled(pending, endsWithinMs))) sending.connection()?.terminate?.()
}

/** `cancel` of postgres.js does the same and drops the promise: a request that the server refuses would end the process. */
async function askToEnd(pending: Pending): Promise<void> {
  const { canceller } = pending
  pending.canceller = null
  await canceller?.(pending)
}

/** How long a line has to say that it listens no more. */
const unlistensWithinMs = 1_000

/** The instance with one connection that postgres.js uses for all listeners. */
interface Listen {
  sql?: { end(options: { timeout: number }): Promise<void> } | undefined
}

function listener(instance: PostgresJs): NonNullable<PostgresClient['listen']> {
  return async (channel, heard, regained) => {
    let isListening = false
    const request = await instance.listen!(channel, heard, () => {
      if (isListening) regained()
      isListening = true
    })
    return async () => {
      if (await settled(Promise.resolve(request.unlisten()), unlistensWithinMs)) return
      // Nobody answers on the connection. Without the instance of that connection, postgres.js opens another connection
      // for the next listener.
      const listen = instance.listen as unknown as Listen
      const silent = listen.sql
      listen.sql = undefined
      await silent?.end({ timeout: 0 })
    }
  }
}
