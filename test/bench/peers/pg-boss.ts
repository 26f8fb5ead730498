import { PgBoss } from 'pg-boss'

import type { Contender } from '../compare.ts'
import {
  checkCount,
  concurrency,
  laps,
  openTables,
  outcomes,
  type Outcome,
  type OwnEvent,
  sender,
  warmUp,
} from './tools.ts'

const queue = 'deliveries'

/**
 * pg-boss, outcomes in the same PostgreSQL; the job row, kept for seven days, is the event row. As its documentation
 * advises for much work: `insert` for many jobs, NOTIFY, large batches, no wait after a full one, jobs that are ended each by its
 * own result. Two workers, so that one batch is fetched and ended while the other is sent.
 */
export const pgBoss: Contender = async ({ postgres, url, events, data }) => {
  const pool = await openTables(postgres, 10)
  await pool.query('drop schema if exists pgboss cascade')
  const http = sender(url)
  const slots = limiter(concurrency)
  const record = outcomes(pool)
  const lap = laps(JSON.parse(data))

  const boss = new PgBoss({
    connectionString: postgres,
    max: 10,
    useListenNotify: true,
    warningQueueSize: 1_000_000,
  })
  boss.on('error', (error) => process.stderr.write(`${error.message}\n`))
  await boss.start()
  const retries = { retryLimit: 5, retryDelay: 60, retryBackoff: true, expireInSeconds: 120 }
  await boss.createQueue(queue, { notify: true, ...retries })

  async function deliver(job: { id: string; data: Pick<OwnEvent, 'type' | 'data'> }) {
    const outcome: Outcome = await slots(() => http.send({ id: job.id, ...job.data }))
    await record(outcome)
    if (outcome.status !== 'SUCCESSFUL') return { id: job.id, status: 'failed' as const, output: { ...outcome } }
    lap.delivered()
    return { id: job.id, status: 'completed' as const }
  }
  await boss.work<Pick<OwnEvent, 'type' | 'data'>>(
    queue,
    {
      batchSize: concurrency,
      localConcurrency: 2,
      perJobResults: true,
      burstWhenBatchFull: true,
      pollingIntervalSeconds: 0.5,
    },
    async (jobs) => await Promise.all(jobs.map(deliver)),
  )

  const publish = (batch: readonly OwnEvent[]) =>
    boss.insert(
      queue,
      batch.map(({ id, type, data: value }) => ({ id, data: { type, data: value } })),
    )
  await lap.run(warmUp, publish)

  return {
    work: () => lap.run(events, publish),
    async check() {
      const { rows } = await pool.query<{ n: number }>(
        `select count(distinct event_id)::int as n from own.attempts a join pgboss.job j on j.id = a.event_id
         where a.status = 'SUCCESSFUL' and a.code = 200 and a.response_body <> '' and a.response_headers ? 'date'
           and a.request_headers ? 'webhook-signature'`,
      )
      checkCount(rows[0]!.n, warmUp + events)
    },
    async close() {
      await boss.stop({ graceful: false })
      await http.close()
      await pool.end()
    },
  }
}

/** At most `most` calls at once, the others in line. */
function limiter(max: number): <Answer>(call: () => Promise<Answer>) => Promise<Answer> {
  let running = 0
  const line: (() => void)[] = []
  return async (call) => {
    if (running < max) running++
    else await new Promise<void>((turn) => line.push(turn))
    try {
      return await call()
    } finally {
      const next = line.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
