import { afterAll, expect, test } from 'vitest'

import * as faults from '../faults/redis-faults.ts'
import { redisTried } from '../faults/redis-trial.ts'
import { type OwnPostgres, ownPostgres } from '../support/postgres.ts'
import { describeOwnRedis } from '../support/redis.ts'

const size = { events: 300, strikes: 1, everyMs: 0, answerMs: 60 }
const whole = { accepted: size.events, delivered: size.events, settledOnce: size.events, health: 'UP' }

/** In flight at one endpoint when a process died, and answers that were not stored yet, as in `postgres-kill.test.ts`. */
const mayRepeat = 64

/** Holds of what died lapse after 30 seconds of real time: these wait side by side. */
const patience = { timeout: 150_000 }

const server: OwnPostgres | null = await ownPostgres({ fsync: 'off', full_page_writes: 'off' })

/** The same at size, with a table of what came of it: `npm run faults -- redis`. */
describeOwnRedis('sudden ends on Redis', patience, () => {
  afterAll(() => server?.stop())

  test.skipIf(server === null).concurrent('a queue that was flushed is put back from PostgreSQL', async () => {
    expect(await redisTried(faults.flushed, server!.url, { ...size, strikes: 3, everyMs: 300 })).toMatchObject(whole)
  })

  test.concurrent('a process that is killed leaves nothing behind that another does not finish', async () => {
    const report = await redisTried(faults.processesKilled, null, size)
    expect(report).toMatchObject(whole)
    expect(report.duplicates).toBeLessThanOrEqual(mayRepeat)
  })

  test.concurrent('a Redis that is killed comes back with all that it acknowledged', async () => {
    expect(await redisTried(faults.crashed, null, { ...size, strikes: 2, everyMs: 500 })).toMatchObject(whole)
  })
})
