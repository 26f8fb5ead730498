import type { EnginePart } from '../../src/contracts/engine.ts'
import type { Change } from '../../src/contracts/storage/configuration.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { PosthornError } from '../../src/errors.ts'
import { announcer } from './announce.ts'
import { redisAttempts } from './attempts.ts'
import { redisCauses } from './causes.ts'
import { connect } from './client.ts'
import type { RedisClient } from './redis-client.ts'
import { redisCollection } from './collection.ts'
import { redisConfiguration } from './configuration.ts'
import { redisEvents } from './events.ts'
import { redisInbox } from './inbox.ts'
import { addedChannel, changedChannel, tagOf } from './keys.ts'
import { redisKeyedRequests } from './keyed-requests.ts'
import { redisLimiter } from './limiter.ts'
import { listenerOf } from './listener.ts'
import { clientFor } from './open.ts'
import { redisProcesses } from './processes.ts'
import { redisPurge } from './purge.ts'
import { redisQueue } from './queue.ts'
import { periodicTurn } from './periodic-turn.ts'
import { redisStatistics } from './statistics.ts'
import { timeOf } from './time.ts'
import { redisWorkspaces } from './workspaces.ts'

export type { CallingClient, CallingSubscriber, RedisClient, SendingClient, SendingSubscriber } from './redis-client.ts'

export interface RedisOptions {
  /** All keys begin with it, in braces. Default `posthorn`. */
  readonly namespace?: string
}

/**
 * Everything on Redis 6.2 or later, through the host's own client: `createPosthorn({ storage: redis(client) })`. Or only
 * the hot path: `const { queue, inbox, limiter } = redis(client)` beside another storage.
 *
 * What is acknowledged is as safe as the server's persistence. The host connects the client, listens to its errors and
 * closes it; wake-ups use one duplicate of the client, closed by `close`. A client that leaves a command without an
 * answer for 5 s is stood in for by another duplicate, until it answers again.
 *
 * @throws PosthornError `validation` for a namespace that is not of `[A-Za-z0-9_.:-]`, 1 to 64 characters.
 * @example
 * const client = await createClient({ url }).connect()
 * const posthorn = createPosthorn({ storage: redis(client) })
 */
export function redis(
  client: RedisClient,
  { namespace = 'posthorn' }: RedisOptions = {},
): Storage & Required<Pick<Storage, 'queue' | 'inbox' | 'limiter'>> {
  checkClient(client)
  const tag = tagOf(namespace)
  const connection = connect(client)
  const added = announcer(connection, addedChannel(tag))
  const listener = listenerOf(connection, `${tag}:proof:${added.origin}`)
  // A write: without memory and on a replica PING is answered too.
  const ping = async (): Promise<void> => {
    await connection.send('SET', [`${tag}:probe`, '1'], true)
  }

  const part = {
    advice: () => (connection.advice === null ? [] : [connection.advice]),
    listening: listener.listening,
    stopped: async () => connection.close(),
  } satisfies EnginePart

  return {
    ...part,
    name: 'redis',
    queue: { ...redisQueue(connection, tag, listener, added), ...part, ping },
    inbox: { ...redisInbox(connection, tag, listener), ...part },
    limiter: { ...redisLimiter(connection, tag), ...part },
    workspaces: redisWorkspaces(connection, tag),
    endpoints: redisCollection('endpoints', connection, tag),
    sources: redisCollection('sources', connection, tag),
    plugins: redisCollection('plugins', connection, tag),
    events: redisEvents(connection, tag, added.announce),
    attempts: redisAttempts(connection, tag, added.announce),
    statistics: redisStatistics(connection, tag),
    causes: redisCauses(connection, tag),
    processes: redisProcesses(connection, tag),
    keyedRequests: redisKeyedRequests(connection, tag),
    ...redisConfiguration(connection, tag),
    purge: redisPurge(connection, tag),
    turn: periodicTurn(connection, tag),
    ...(listener.able && {
      onChanged: (changed: (change: Change) => void) =>
        listener.listen(changedChannel(tag), (message) => changed(changeOf(message))),
    }),
    time: () => timeOf(connection),
    ping,
    stats: async () => ({
      total: connection.connections() + listener.connections(),
      active: connection.pending() > 0 ? 1 : 0,
    }),
    async close() {
      listener.close()
      connection.close()
    },
  }
}

/** Refuses what is no client, at the call that passes it. A url may hold a password, so the refusal does not repeat it. */
function checkClient(client: unknown): void {
  if (typeof client === 'object' && client !== null && ('call' in client || 'sendCommand' in client)) return
  throw new PosthornError(
    'validation',
    typeof client === 'string'
      ? 'redis: pass a client of @redis/client, redis or ioredis, not a url; await openRedis(url) opens a client of its own'
      : 'redis: pass a client of @redis/client, redis or ioredis, or await openRedis(url) instead',
  )
}

/**
 * The same for hosts without a client: opens a client with safe settings at the first use, through `@redis/client`,
 * `redis` or `ioredis`, whichever is installed. Each `stop` of the instance closes the client; later use opens it
 * again. So each instance needs a storage of its own.
 *
 * @param url `redis://` or `rediss://`, with user, password and database where they are needed.
 * @throws PosthornError `validation` for another url; `internal` that names what to install where no client is installed.
 * @example const posthorn = createPosthorn({ storage: await openRedis('redis://localhost:6379') })
 */
export async function openRedis(url: string, options: RedisOptions = {}): Promise<ReturnType<typeof redis>> {
  const { client, close } = await clientFor(url)
  const engine = redis(client, options)
  const stopped = async (): Promise<void> => {
    await engine.close()
    close()
  }
  const { queue, inbox, limiter } = engine
  return {
    ...engine,
    stopped,
    close: stopped,
    queue: { ...queue, stopped },
    inbox: { ...inbox, stopped },
    limiter: { ...limiter, stopped },
  }
}

/** The message of a change; null stands for those missed while the connection was lost. */
function changeOf(message: string | null): Change {
  if (message === null) return 'everything'
  return message === 'routes' ? 'routes' : { workspaceId: message.slice(1) }
}
