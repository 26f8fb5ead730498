import { bareError, PosthornError } from '../../src/errors.ts'

/**
 * `ioredis`, or a wrapper of any other client: `{ call: (command, ...args) => bun.send(command, args) }`. Without
 * `duplicate` there are no wake-ups, and workers poll.
 */
export interface CallingClient {
  call(command: string, ...args: string[]): Promise<unknown>
  duplicate?(): CallingSubscriber
}

/** What a duplicate of an `ioredis` client is asked for. It connects by itself. */
export interface CallingSubscriber {
  on(event: 'message', listener: (channel: string, message: string) => void): unknown
  on(event: 'ready' | 'error', listener: () => void): unknown
  subscribe(...channels: string[]): Promise<unknown>
  disconnect(): void
}

/** A client of `redis` or `@redis/client`. The host connects it, and listens to its `error` events. */
export interface SendingClient {
  sendCommand(args: readonly string[]): Promise<unknown>
  duplicate(): SendingSubscriber
}

/** What a duplicate of such a client is asked for. */
export interface SendingSubscriber {
  on(event: 'ready' | 'error', listener: () => void): unknown
  connect(): Promise<unknown>
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>
  destroy(): void
}

/** The host's own client: of `ioredis`, of `redis` (`@redis/client`), or anything with `call(command, ...args)`. */
export type RedisClient = CallingClient | SendingClient

/** How long one command may take, milliseconds; a client that has lost its server keeps commands waiting for ever. */
const deadlineMs = 5_000

/** The host's client, asked the same way whatever its make. */
export interface Connection {
  readonly client: RedisClient
  /**
   * Sends one command. `again`: the command may run twice, so it is sent once more if the connection was lost.
   *
   * @throws PosthornError `unavailable` when Redis is away or refuses to serve. What else Redis answers is passed on.
   */
  send(command: string, args: readonly string[], again: boolean): Promise<unknown>
  /** Commands without an answer yet. */
  pending(): number
}

export function connect(client: RedisClient): Connection {
  let pending = 0
  const once = async (command: string, args: readonly string[]): Promise<unknown> => {
    pending++
    try {
      return await within('call' in client ? client.call(command, ...args) : client.sendCommand([command, ...args]))
    } finally {
      pending--
    }
  }
  return {
    client,
    pending: () => pending,
    async send(command, args, again) {
      try {
        return await once(command, args).catch((error: unknown) => {
          if (again && wasLost(error)) return once(command, args)
          throw error
        })
      } catch (error) {
        throw translated(error)
      }
    },
  }
}

/** Gives up after the deadline. What was sent may still run. */
export function within<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new PosthornError('unavailable', `Redis did not answer within ${deadlineMs} ms`))
    }, deadlineMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Answers of a server that is there but cannot serve. Inside a script old servers put them behind a dash. */
const refusals: Readonly<Record<string, string>> = {
  OOM: 'Redis has no memory left (maxmemory is reached)',
  READONLY: 'Redis is a read-only replica',
  LOADING: 'Redis is still loading its data',
  BUSY: 'Redis is busy with a long script',
  MISCONF: 'Redis cannot persist and refuses writes',
  NOREPLICAS: 'Redis has too few replicas to accept writes',
  MASTERDOWN: 'Redis is a replica that has lost its master',
  CLUSTERDOWN: 'The Redis cluster is down',
  TRYAGAIN: 'The Redis cluster is moving this slot',
  NOAUTH: 'Redis asks for a password',
  WRONGPASS: 'Redis refuses the password',
  NOPERM: 'The Redis user lacks a permission',
}

function translated(error: unknown): unknown {
  if (error instanceof PosthornError) return error
  const unable = inability(messageOf(error))
  if (unable !== null) return new PosthornError('unavailable', unable, { cause: error })
  if (wasLost(error)) return new PosthornError('unavailable', 'The connection to Redis is lost', { cause: error })
  return bareError(error)
}

/** Why the server cannot serve, where an answer of it says so. */
export function inability(message: string): string | null {
  const codes = [...message.matchAll(/(?:^|[ :]-)([A-Z]+) /g)].map(([, code]) => code!) // the group always matches
  return codes.map((code) => refusals[code]).find((known) => known !== undefined) ?? null
}

/** Errors of the client's connection. Answers of the server start with a code in capitals; a TypeError is a mistake of ours. */
function wasLost(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof PosthornError || error instanceof TypeError) return false
  return !/^[A-Z]{2,} /.test(error.message)
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
