import { afterAll, describe, expect, test } from 'vitest'

import * as faults from '../faults/postgres-faults.ts'
import { type Fault, tried } from '../faults/trial.ts'
import { type OwnPostgres, ownPostgres } from '../support/postgres.ts'

const server: OwnPostgres | null = await ownPostgres({ fsync: 'off', full_page_writes: 'off' })
const disk = faults.fullDisk(12)
if (disk === null) process.stderr.write('SKIPPED: no file system may be mounted here, so none runs full\n')

/** The same at size, with a table of what came of it: `npm run faults -- postgres`. */
const size = { events: 300, lastsMs: 800, answerMs: 60 }
/** An answer of `health` stands for a second: a full disk lasts long enough for two more questions. */
const longer = { ...size, lastsMs: 2500 }

const told: readonly (readonly [Fault, health: RegExp])[] = [
  [faults.terminated, /UP$/],
  [faults.readOnly, /^UP, DOWN, UP$/],
  [faults.exhausted, /^UP$/],
  [faults.timeouts, /^UP$/],
  [faults.serializable, /UP$/],
  [faults.clocks, /^UP$/],
  [faults.migrated, /^UP$/],
  ...(disk === null ? [] : [[disk, /^UP(, DOWN, UP)+$/] as const]),
]

describe.skipIf(server === null)('a PostgreSQL in trouble', { timeout: 60_000 }, () => {
  afterAll(async () => {
    await server!.stop() // skipped where it is null
    await disk?.after?.()
  })

  test.each(told.map(([fault, health]) => ({ name: fault.name, fault, health })))(
    'loses nothing, settles nothing twice, and recovers by itself: $name',
    async ({ fault, health }) => {
      const report = await tried(fault, server!, fault === disk ? longer : size)
      expect(report).toMatchObject({ accepted: size.events, delivered: size.events, settledOnce: size.events })
      expect(report.health).toMatch(health)
    },
  )
})
