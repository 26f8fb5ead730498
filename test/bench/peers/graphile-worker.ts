import { Logger, run } from 'graphile-worker'

import type { Contender } from '../compare.ts'
import {
  checkTables,
  concurrency,
  laps,
  newEvent,
  openTables,
  type OwnEvent,
  sender,
  storeOutcome,
  warmUp,
} from './home-made.ts'

/**
 * graphile-worker, events and outcomes in the same PostgreSQL. As its documentation on performance advises: jobs fetched
 * through the local queue, completions batched, a pool somewhat larger than what uses it; event and job in one statement.
 */
export const graphileWorker: Contender = async ({ postgres, url, events, data }) => {
  const value: unknown = JSON.parse(data)
  const pool = await openTables(postgres, 20)
  await pool.query('drop schema if exists graphile_worker cascade')
  const send = sender(url)
  const lap = laps()

  const runner = await run({
    preset: {
      worker: {
        connectionString: postgres,
        concurrentJobs: concurrency,
        maxPoolSize: 25,
        pollInterval: 500,
        localQueue: { size: 2 * concurrency },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
    taskList: {
      async deliver(payload) {
        const event = payload as OwnEvent // as it was added
        await storeOutcome(pool, event.id, await send(event))
        lap.delivered()
      },
    },
    noHandleSignals: true,
    logger: new Logger(() => () => {}),
  })

  async function publish(): Promise<void> {
    const event = newEvent(value)
    await pool.query({
      name: 'publish',
      text: `with event as (insert into own.events (id, type, body) values ($1, $2, $3))
        select from graphile_worker.add_job('deliver', $4::json, max_attempts => 3)`,
      values: [event.id, event.type, event.body, JSON.stringify(event)],
    })
  }
  await lap.run(warmUp, publish)

  return {
    work: () => lap.run(events, publish),
    check: () => checkTables(pool, warmUp + events),
    async close() {
      await runner.stop()
      await pool.end()
    },
  }
}
