import { Queue, Worker } from 'bullmq'

import type { Contender } from '../compare.ts'
import {
  checkTables,
  concurrency,
  laps,
  openTables,
  outcomes,
  type OwnEvent,
  sender,
  storeEvents,
  warmUp,
} from './tools.ts'

/**
 * BullMQ on Redis, events and outcomes in PostgreSQL. As its documentation advises: `addBulk`, one worker with a concurrency
 * for work that waits, finished jobs removed, the persistence of Redis on.
 */
export const bullmq: Contender = async ({ postgres, redis, url, events, data }) => {
  const pool = await openTables(postgres, 10)
  const http = sender(url)
  const record = outcomes(pool)
  const lap = laps(JSON.parse(data))
  const { hostname: host, port } = new URL(redis)
  const connection = { host, port: Number(port) }

  const queue = new Queue<OwnEvent>('deliveries', {
    connection,
    defaultJobOptions: {
      removeOnComplete: true,
      removeOnFail: 5000,
      attempts: 5,
      backoff: { type: 'exponential', delay: 60_000 },
    },
  })
  const worker = new Worker<OwnEvent>(
    'deliveries',
    async ({ data: event }) => {
      const outcome = await http.send(event)
      await record(outcome)
      if (outcome.status !== 'SUCCESSFUL') throw new Error(outcome.error ?? `status ${outcome.code}`)
      lap.delivered()
    },
    { connection, concurrency },
  )
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()])

  async function publish(batch: readonly OwnEvent[]): Promise<void> {
    await storeEvents(pool, batch)
    await queue.addBulk(batch.map((event) => ({ name: 'deliver', data: event, opts: { jobId: event.id } })))
  }
  await lap.run(warmUp, publish)

  return {
    work: () => lap.run(events, publish),
    check: () => checkTables(pool, warmUp + events),
    async close() {
      await worker.close()
      await queue.close()
      await http.close()
      await pool.end()
    },
  }
}
