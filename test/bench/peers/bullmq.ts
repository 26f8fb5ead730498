import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'

import { type Contender, sideBySide } from '../compare.ts'
import {
  checkTables,
  concurrency,
  countdown,
  newEvent,
  openTables,
  type OwnEvent,
  sender,
  storeEvent,
  storeOutcome,
} from './home-made.ts'

/**
 * BullMQ on Redis, events and outcomes in PostgreSQL. As its documentation advises: one worker with a concurrency for
 * work that waits, connections of their own for queue and worker, finished jobs removed, the persistence of Redis on.
 */
export const bullmq: Contender = async ({ postgres, redis, url, events, data }) => {
  const value: unknown = JSON.parse(data)
  const pool = await openTables(postgres, 20)
  const send = sender(url)
  const done = countdown(events)
  const connection = () => new Redis(redis, { maxRetriesPerRequest: null, enableAutoPipelining: true })

  const own = [connection(), connection()] as const
  const queue = new Queue<OwnEvent>('webhooks', {
    connection: own[0],
    defaultJobOptions: { removeOnComplete: true, attempts: 3, backoff: { type: 'exponential', delay: 1000 } },
  })
  const worker = new Worker<OwnEvent>(
    'webhooks',
    async ({ data: event }) => {
      await storeOutcome(pool, event.id, await send(event))
      done.tell(1)
    },
    { connection: own[1], concurrency },
  )
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()])

  return {
    async work() {
      await sideBySide(events, concurrency, async () => {
        const event = newEvent(value)
        await storeEvent(pool, event)
        await queue.add('deliver', event, { jobId: event.id })
      })
      await done.over
    },
    check: () => checkTables(pool, events),
    async close() {
      await worker.close()
      await queue.close()
      for (const each of own) each.disconnect()
      await pool.end()
    },
  }
}
