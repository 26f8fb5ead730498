import { Logger, makeWorkerUtils, run, runMigrations } from 'graphile-worker'

import type { Contender } from '../compare.ts'
import { checkTables, concurrency, laps, openTables, outcomes, type OwnEvent, sender, warmUp } from './tools.ts'

/**
 * graphile-worker, outcomes in the same PostgreSQL; the event travels as the payload of the job, which is deleted when it
 * ends, so the outcome keeps the body. As its documentation on performance advises: jobs added in batches and fetched through
 * the local queue, completions batched.
 */
export const graphileWorker: Contender = async ({ postgres, url, events, data }) => {
  const pool = await openTables(postgres, 20)
  pool.on('connect', (client) => client.on('error', () => {}))
  await pool.query('drop schema if exists graphile_worker cascade')
  const http = sender(url)
  const record = outcomes(pool)
  const lap = laps(JSON.parse(data))

  const preset = {
    worker: {
      concurrentJobs: concurrency,
      localQueue: { size: 500 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
      logger: new Logger(() => () => {}),
    },
  }
  await runMigrations({ pgPool: pool, preset })
  const utils = await makeWorkerUtils({ pgPool: pool, preset })
  const runner = await run({
    pgPool: pool,
    preset,
    noHandleSignals: true,
    taskList: {
      async deliver(payload) {
        const event = payload as OwnEvent // as it was added
        const outcome = await http.send(event)
        await record({ ...outcome, request_body: JSON.stringify(event.data) })
        if (outcome.status !== 'SUCCESSFUL') throw new Error(outcome.error ?? `status ${outcome.code}`)
        lap.delivered()
      },
    },
  })

  const publish = (batch: readonly OwnEvent[]) =>
    utils.addJobs(batch.map((payload) => ({ identifier: 'deliver', payload, maxAttempts: 5 })))
  await lap.run(warmUp, publish)

  return {
    work: () => lap.run(events, publish),
    check: () => checkTables(pool, warmUp + events),
    async close() {
      await runner.stop()
      await utils.release()
      await http.close()
      await pool.end()
    },
  }
}
