import { afterAll, describe, expect, test } from 'vitest'

import { killed } from '../faults/killing.ts'
import { restart } from '../faults/postgres-faults.ts'
import { tried } from '../faults/trial.ts'
import { type OwnPostgres, ownPostgres } from '../support/postgres.ts'

const events = 300
/**
 * The requests of a process that died which are made again: the 16 in flight at one endpoint, and those whose answers were
 * not stored yet, a few rounds of 16 where the machine is busy. Far fewer than what was delivered before.
 */
const mayRepeat = 64
const whole = { accepted: events, delivered: events, settledOnce: events }

/** Holds of what died lapse after 30 seconds of real time: these wait side by side. */
const patience = { timeout: 150_000 }

const first: OwnPostgres | null = await ownPostgres({ fsync: 'off', full_page_writes: 'off' })
const second: OwnPostgres | null = await ownPostgres({ fsync: 'off', full_page_writes: 'off' })

/** The same at size, with a table of what came of it: `npm run faults -- postgres-kill` and `-- postgres`. */
describe.skipIf(first === null || second === null).concurrent('sudden ends', patience, () => {
  afterAll(() => Promise.all([first!.stop(), second!.stop()])) // skipped where one is null

  test('two servers obey and share; when one is killed the other finishes all within a minute', async () => {
    const killing = { databaseUrl: first!.url, events, kills: 1, everyMs: 0, answerMs: 100 }
    const report = await killed(killing)
    expect(report).toMatchObject({ ...whole, health: 'UP' })
    expect(report.recoverySeconds).toBeLessThan(60)
    expect(report.duplicates).toBeLessThanOrEqual(mayRepeat)
  })

  test('a PostgreSQL that crashes and comes back loses nothing, and health tells of it', async () => {
    const report = await tried(restart, second!, { events, lastsMs: 800, answerMs: 60 })
    expect(report).toMatchObject({ ...whole, duplicates: 0, health: 'UP, DOWN, UP' })
  })
})
