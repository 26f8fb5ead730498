import type { Inbox } from '../../src/contracts/inbox.ts'
import type { Limiter } from '../../src/contracts/limiter.ts'
import { connect, type RedisClient } from './client.ts'
import { redisInbox } from './inbox.ts'
import { tagOf } from './keys.ts'
import { redisLimiter } from './limiter.ts'
import { ear as earOf } from './listen.ts'
import { redisQueue, type RedisQueue } from './queue.ts'

export type { CallingClient, CallingSubscriber, RedisClient, SendingClient, SendingSubscriber } from './client.ts'

export interface RedisOptions {
  /** All keys begin with it, in braces. Default `posthorn`. */
  readonly namespace?: string
}

export function redis(
  client: RedisClient,
  options: RedisOptions = {},
): { queue: RedisQueue; inbox: Inbox; limiter: Limiter; close(): Promise<void> } {
  const tag = tagOf(options.namespace ?? 'posthorn')
  const connection = connect(client)
  const ear = earOf(client)
  return {
    queue: redisQueue(connection, tag, ear),
    inbox: redisInbox(connection, tag, ear),
    limiter: redisLimiter(connection, tag),
    close: async () => ear.close(),
  }
}
