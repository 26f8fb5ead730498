import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'

import type { Contender } from '../compare.ts'
import {
  checkTables,
  concurrency,
  laps,
  newEvent,
  openTables,
  type OwnEvent,
  sender,
  storeEvent,
  storeOutcome,
  warmUp,
} from './home-made.ts'

/**
 * BullMQ on Redis, events and outcomes in PostgreSQL. As its documentation advises: one worker with a concurrency for
 * work that waits, connections of their own for queue and worker, finished jobs removed, the persistence of Redis on.
 */
export const bullmq: Contender = async ({ postgres, redis, url, events, data }) => {
  const value: unknown = JSON.parse(data)
  const pool = await openTables(postgres, 20)
  const send = sender(url)
  const lap = laps()
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
      lap.delivered()
    },
    { connection: own[1], concurrency },
  )
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()])

  async function publish(): Promise<void> {
    const event = newEvent(value)
    await storeEvent(pool, event)
    await queue.add('deliver', event, { jobId: event.id })
  }
  await lap.run(warmUp, publish)

  return {
    work: () => lap.run(events, publish),
    check: () => checkTables(pool, warmUp + events),
    async close() {
      await worker.close()
      await queue.close()
      for (const each of own) each.disconnect()
      await pool.end()
    },
  }
}
