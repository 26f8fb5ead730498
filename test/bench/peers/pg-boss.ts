import PgBoss from 'pg-boss'

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

const workers = 4

/**
 * pg-boss, events and outcomes in the same PostgreSQL. As its documentation advises for much work: several workers that
 * fetch in batches, and a worker that got a full batch is told not to wait for its polling interval.
 */
export const pgBoss: Contender = async ({ postgres, url, events, data }) => {
  const value: unknown = JSON.parse(data)
  const pool = await openTables(postgres, 20)
  await pool.query('drop schema if exists pgboss cascade')
  const send = sender(url)
  const lap = laps()

  const boss = new PgBoss({ connectionString: postgres, max: 20 })
  boss.on('error', (error) => process.stderr.write(`${error.message}\n`))
  await boss.start()
  await boss.createQueue('webhooks')
  const ids: string[] = []
  const batchSize = concurrency / workers
  for (let i = 0; i < workers; i++) {
    const id = await boss.work<OwnEvent>('webhooks', { batchSize, pollingIntervalSeconds: 0.5 }, async (jobs) => {
      await Promise.all(
        jobs.map(async ({ data: event }) => {
          await storeOutcome(pool, event.id, await send(event))
          lap.delivered()
        }),
      )
      boss.notifyWorker(ids[i]!)
    })
    ids.push(id)
  }

  async function publish(): Promise<void> {
    const event = newEvent(value)
    await storeEvent(pool, event)
    await boss.send('webhooks', event, { retryLimit: 3, retryBackoff: true })
  }
  await lap.run(warmUp, publish)

  return {
    work: () => lap.run(events, publish),
    check: () => checkTables(pool, warmUp + events),
    async close() {
      await boss.stop({ graceful: false })
      await pool.end()
    },
  }
}
