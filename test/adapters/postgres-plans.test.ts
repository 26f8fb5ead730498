import { escapeLiteral, Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'

import type { Row } from '../../adapters/sql/values.ts'
import type { PostgresClient } from '../../adapters/postgres/clients.ts'
import { migrate, postgres } from '../../adapters/postgres/index.ts'
import type { Value } from '../../adapters/sql/sql.ts'
import { attempt, entry, event, made, settlement, start } from '../../src/testing/storage/rows.ts'
import { analyzed, filled, large, operations, plansOf, type PostgresStorage } from '../faults/plans.ts'
import { claimOptions } from '../support/claim-options.ts'
import { schemasOf } from '../support/postgres.ts'

const url = inject('postgresUrl')

/** The same at a million: `npm run faults -- plans`. */
describe.skipIf(url === null).each([
  { when: 'once it was analyzed', analyze: analyzed },
  { when: 'before autovacuum comes for the first time', analyze: analyzedByUpkeep },
])('what PostgreSQL reads at twenty thousand attempts, $when', ({ analyze }) => {
  let pool: Pool
  let schemas: ReturnType<typeof schemasOf>
  let schema: string
  let revision: number
  beforeAll(async () => {
    pool = new Pool({ connectionString: url!, max: 5 }) // skipped where it is null
    schemas = schemasOf(pool)
    schema = (await schemas.open({ listen: false })).schema
    for (const name of large) await pool.query(`alter table ${schema}.${name} set (autovacuum_enabled = off)`)
    revision = await filled(pool, schema, 20_000)
    await analyze(pool, schema, revision)
  }, 60_000)
  afterAll(async () => {
    await schemas.drop()
    await pool.end()
  })

  test.each(operations)('$name reads by index, and not much more than it answers', async (operation) => {
    const plans = await plansOf(pool, schema, operation, revision)
    expect(plans.length).toBeGreaterThan(0)
    for (const { whole, maxRows, text } of plans) {
      expect(whole, text).toEqual([])
      expect(maxRows, text).toBeLessThan(3000)
    }
  })
})

/** Waits for the statistics that a process brings about itself, once enough events went through it. */
async function analyzedByUpkeep(pool: Pool, schema: string, revision: number): Promise<void> {
  const storage = postgres(pool, { schema, listen: false })
  let count = 0
  const known = async (): Promise<string[]> => {
    const ids = Array.from({ length: 500 }, () => `f${count++}`)
    await storage.events.ingest(
      ids.map((id) => entry('w', revision, event(id), [attempt(`g${id}`, id)])),
      { enqueue: true },
    )
    const { rows } = await pool.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = '${schema}'::regnamespace and reltuples > 0 and relkind = 'r'`,
    )
    return rows.map(({ name }) => name)
  }
  const sought = expect.arrayContaining(['attempts', 'events', 'jobs', 'outcomes'])
  await vi.waitFor(async () => expect(await known()).toEqual(sought), { timeout: 20_000, interval: 200 })
  await storage.close()
}

const left = Array.from({ length: 1000 }, (_, i) => `g${i}`)
const fresh = [
  "insert into jobs select 'new' || i, 'new', 1 from generate_series(1, 500) i",
  `insert into hints values ('new', 1, 'new')`,
]

/** What a queue holds, in jobs of groups of workspaces. */
interface Backlog {
  readonly name: string
  /** Jobs that PostgreSQL looked at before the others came; it looks at all where it is left out. */
  readonly known?: string
  readonly jobs: string
  /** Of a group. */
  readonly workspace: string
  readonly pausedUntil?: number
  /** Workspaces that use a slot. */
  readonly busy?: number
  /** Groups. */
  readonly leaveOut: readonly string[]
  /** How many rows one step of a claim of 64 may come upon. */
  readonly maxRows: number
}

const backlogs: readonly Backlog[] = [
  {
    name: '10,000 workspaces with due work',
    jobs: `select 'j' || i, 'g' || i % 10000, i from generate_series(0, 19999) i`,
    workspace: `'w' || id`,
    leaveOut: [],
    maxRows: 400,
  },
  {
    name: '10,000 workspaces with due work, of which 192 use a slot',
    jobs: `select 'j' || i, 'g' || i % 10000, i from generate_series(0, 19999) i`,
    workspace: `'w' || id`,
    leaveOut: [],
    busy: 192,
    maxRows: 600,
  },
  {
    name: '10,000 workspaces with work due later',
    jobs: `select 'j' || i, 'g' || i % 10000, ${start} + 100000 + i from generate_series(0, 19999) i`,
    workspace: `'w' || id`,
    leaveOut: [],
    maxRows: 400,
  },
  {
    name: '200,000 due jobs in 1,000 groups of one workspace',
    jobs: `select 'j' || i, 'g' || i % 1000, i from generate_series(0, 199999) i`,
    workspace: `'w'`,
    leaveOut: [],
    maxRows: 400,
  },
  {
    name: '100,000 due jobs of one group and 10,000 groups with one',
    jobs: `select 'j' || i, case when i < 100000 then 'deep' else 'g' || i end, i from generate_series(0, 109999) i`,
    workspace: `'w'`,
    leaveOut: [],
    maxRows: 400,
  },
  {
    name: '1,000 groups of one workspace that are left out',
    jobs: `select 'j' || i, 'g' || i % 1000, i from generate_series(0, 19999) i`,
    workspace: `'w'`,
    leaveOut: left,
    maxRows: 1400,
  },
  {
    name: '1,000 workspaces whose groups are left out',
    jobs: `select 'j' || i, 'g' || i % 1000, i from generate_series(0, 19999) i`,
    workspace: `'w' || id`,
    leaveOut: left,
    maxRows: 1400,
  },
  {
    name: '10,000 paused groups of one workspace',
    jobs: `select 'j' || i, 'g' || i % 10000, i from generate_series(0, 19999) i`,
    workspace: `'w'`,
    pausedUntil: start + 60_000,
    leaveOut: [],
    maxRows: 400,
  },
  ...[
    [1000, 2],
    [5000, 250],
    [20_000, 7000],
    [100_000, 5000],
  ].map(([many, groups]) => ({
    name: `100,000 due jobs of one group, since PostgreSQL looked at ${many} of ${groups}`,
    known: `select 'k' || i, 'g' || i % ${groups}, i + 10 from generate_series(1, ${many}) i`,
    jobs: `select 'j' || i, 'deep', i from generate_series(0, 99999) i`,
    workspace: `'w'`,
    leaveOut: [],
    maxRows: 400,
  })),
]

describe.skipIf(url === null)('what a claim of PostgreSQL reads, or a look ahead,', { timeout: 60_000 }, () => {
  test.each(backlogs)('beside $name is not much more than it takes', async (backlog) => {
    const { jobs, known, workspace, pausedUntil = 0, busy = 0, leaveOut, maxRows } = backlog
    const slots = new Map(Array.from({ length: busy }, (_, i) => [`wg${i}`, 1]))
    const pool = new Pool({ connectionString: url!, max: 2 }) // skipped where it is null
    const schemas = schemasOf(pool)
    try {
      const { schema } = await schemas.open({ listen: false })
      await pool.query(`alter table ${schema}.jobs set (autovacuum_enabled = off)`)
      for (const statement of [
        ...(known === undefined ? [] : [`insert into jobs ${known}`, `analyze ${schema}.jobs`]),
        `insert into jobs ${jobs}`,
        `insert into groups (id, workspace, next_at, paused_until)
          select id, ${workspace}, next_at, ${pausedUntil}
          from (select group_id as id, min(due_at) as next_at from ${schema}.jobs group by group_id) g`,
        `insert into lines (workspace, ready_at) select workspace, min(ready_at) from ${schema}.groups group by workspace`,
        ...fresh,
      ]) {
        await pool.query(statement.replace('into ', `into ${schema}.`))
      }
      const analyzed = [...(known === undefined ? ['jobs'] : []), 'groups', 'lines', 'hints']
      await pool.query(`analyze ${analyzed.map((name) => `${schema}.${name}`).join(', ')}`)
      // The last claims expect one workspace alone, where there is one.
      const run = async ({ queue }: PostgresStorage) => {
        for (let n = 0; n < 7; n++) {
          const claims = await queue.claim(
            claimOptions({
              limit: 64,
              busy: { workspaces: slots, groups: new Map(), low: new Map() },
              leaveOut: new Set(leaveOut),
              now: start,
            }),
          )
          expect(claims).toHaveLength(64)
          expect(await queue.nextDueAt!(start)).not.toBeNull()
          await queue.complete(claims)
        }
      }
      for (const { text, maxRows: rows } of await plansOf(pool, schema, { name: backlog.name, run }, 0)) {
        if (text.includes('full join') || text.includes('Full Join')) continue // once a minute all is looked at
        expect(text).not.toMatch(/Seq Scan on jobs\b/)
        expect(rows, text).toBeLessThan(maxRows)
      }
    } finally {
      await schemas.drop()
      await pool.end()
    }
  })
})

test.skipIf(url === null)(
  'where PostgreSQL takes all tables to be empty, the first claim of 10,000 workspaces does not read what it writes',
  { timeout: 60_000 },
  async () => {
    const pool = new Pool({ connectionString: url!, max: 2 }) // skipped where it is null
    const schemas = schemasOf(pool)
    try {
      const { schema } = await schemas.open({ listen: false })
      for (const name of ['jobs', 'groups', 'lines', 'hints']) {
        await pool.query(`alter table ${schema}.${name} set (autovacuum_enabled = off)`)
        await pool.query(`vacuum analyze ${schema}.${name}`)
      }
      await pool.query(`insert into ${schema}.jobs select 'j' || i, 'g' || i, i from generate_series(1, 10000) i`)
      await pool.query(`insert into ${schema}.hints select 'g' || i, i, 'w' || i from generate_series(1, 10000) i`)
      const run = async ({ queue }: PostgresStorage) => {
        for (let n = 0; n < 3; n++) {
          expect(await queue.claim(claimOptions({ limit: 20, now: start }))).toHaveLength(20)
        }
      }
      for (const { text, pages } of await plansOf(pool, schema, { name: 'a claim', run }, 0)) {
        expect(pages, text).toBeLessThan(600_000)
      }
    } finally {
      await schemas.drop()
      await pool.end()
    }
  },
)

test.skipIf(url === null)(
  'PostgreSQL keeps no statistics of groups, and forgets those of the version before',
  async () => {
    const pool = new Pool({ connectionString: url!, max: 2 }) // skipped where it is null
    const schemas = schemasOf(pool)
    try {
      const { schema } = await schemas.open({ listen: false })
      const known = async () => {
        const { rows } = await pool.query<{ column: string }>(
          `select attname as column from pg_stats where schemaname = '${schema}' and tablename = 'jobs'`,
        )
        return rows.map(({ column }) => column)
      }
      await pool.query(`insert into ${schema}.jobs select 'j' || i, 'g' || i % 7, i from generate_series(1, 1000) i`)
      await pool.query(`analyze ${schema}.jobs`)
      expect(await known()).toContain('id')
      expect(await known()).not.toContain('group_id')

      await pool.query(`alter table ${schema}.jobs alter column group_id set statistics -1`)
      await pool.query(`analyze ${schema}.jobs`)
      expect(await known()).toContain('group_id')
      await pool.query(`drop view ${schema}.open_anywhere`)
      await pool.query(
        `delete from ${schema}.expansions where version >= 14; delete from ${schema}.migrations where version >= 14`,
      )
      await migrate(pool, { schema })
      await pool.query(`analyze ${schema}.jobs`)
      expect(await known()).not.toContain('group_id')
    } finally {
      await schemas.drop()
      await pool.end()
    }
  },
)

interface Prepared {
  readonly name: string
  readonly text: string
  readonly values: readonly Value[]
}

/** A client that remembers what it ran prepared, with the values of the last time. */
function remembering(connection: Pool): { client: PostgresClient; prepared: Map<string, Prepared> } {
  const prepared = new Map<string, Prepared>()
  return {
    prepared,
    client: {
      async query(text, values, { name } = {}) {
        if (name !== undefined) prepared.set(name, { name, text, values })
        return await connection.query<Row>({ text, values, ...(name !== undefined && { name }) })
      },
    },
  }
}

function literal(value: Value): string {
  if (value === null || typeof value === 'number') return String(value)
  return typeof value === 'string' ? escapeLiteral(value) : `array[${value.map(escapeLiteral).join(', ')}]::text[]`
}

test.skipIf(url === null)(
  'a statement prepared when there was little soon reads by index what came since',
  async () => {
    const connection = new Pool({ connectionString: url!, max: 1 }) // skipped where it is null
    const pool = new Pool({ connectionString: url!, max: 2 })
    const schemas = schemasOf(pool)
    try {
      const { schema } = await schemas.open({ listen: false })
      const { client, prepared } = remembering(connection)
      const storage = postgres(client, { schema })
      const revision = await made(storage, 'w')
      const ingest = (ids: readonly string[]) =>
        storage.events.ingest(
          ids.map((id) => entry('w', revision, event(id), [attempt(`a${id}`, id)])),
          { enqueue: true },
        )
      const deliver = async () => {
        const claims = await storage.queue.claim(claimOptions({ limit: 2, cap: 16, now: start }))
        const deliveries = await storage.attempts.load(claims.map(({ id }) => id))
        expect(deliveries).toHaveLength(2)
        await storage.attempts.settle(
          deliveries.map((delivery, i) => settlement('w', delivery.attempt, { claim: claims[i]! })),
          { enqueue: true },
        )
      }
      // After the fifth time a plan is kept.
      for (let n = 0; n < 10; n++) {
        await ingest([`${n}x`, `${n}y`])
        await deliver()
      }
      for (let n = 0; n < 10; n++) await ingest(Array.from({ length: 500 }, (_, i) => `many${n}.${i}`))

      const readWhole = async (): Promise<string[]> => {
        await deliver()
        const wholes: string[] = []
        for (const { name, text, values } of prepared.values()) {
          if (!/attempts|jobs/.test(text)) continue
          const { rows } = await connection.query<{ 'QUERY PLAN': string }>(
            `explain execute "${name}" (${values.map(literal).join(', ')})`,
          )
          const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
          wholes.push(
            ...[...plan.matchAll(/Seq Scan on (attempts|open_attempts|jobs|events)\b/g)].map((found) => found[1]!),
          )
        }
        return wholes
      }
      await expect.poll(readWhole, { timeout: 10_000 }).toEqual([])
    } finally {
      await connection.end()
      await schemas.drop()
      await pool.end()
    }
  },
)

test.skipIf(url === null)(
  'the room of hints that were worked in is freed by the upkeep of who works them in',
  async () => {
    const pool = new Pool({ connectionString: url!, max: 2 }) // skipped where it is null
    const schemas = schemasOf(pool)
    try {
      const { schema } = await schemas.open({ listen: false })
      const sent: string[] = []
      const query = (text: string, values: unknown[]) => {
        sent.push(text)
        return pool.query<Row>(text, values)
      }
      const { queue } = postgres({ query }, { schema, listen: false })
      // Autovacuum, which may come first, stays away.
      await pool.query(`alter table ${schema}.hints set (autovacuum_enabled = off)`)
      await pool.query(`insert into ${schema}.hints select 'g' || i % 500, 1 from generate_series(1, 9000) i`)
      for (let n = 0; n < 3; n++) {
        const jobs = Array.from({ length: 500 }, (_, i) => ({
          id: `${n}.${i}`,
          workspace: 'w',
          group: `g${i}`,
          due_at: 1,
        }))
        await queue.add(jobs)
        expect(await queue.claim(claimOptions({ limit: 500, free: 1000, now: start }))).toHaveLength(500)
      }
      const { rows } = await pool.query(`select from ${schema}.hints`)
      expect(rows, 'hints that are left').toHaveLength(0)
      await expect.poll(() => sent.some((text) => /^vacuum .*hints$/.test(text.trim())), { timeout: 10_000 }).toBe(true)
    } finally {
      await schemas.drop()
      await pool.end()
    }
  },
)

/** What PostgreSQL believes of tables, after events went through a process. */
async function believed(
  fill: (pool: Pool, schema: string) => Promise<void>,
  enqueue: boolean,
  isDone: (rows: Known) => boolean,
) {
  const pool = new Pool({ connectionString: url!, max: 2 }) // skipped where it is null
  const schemas = schemasOf(pool)
  try {
    const { schema } = await schemas.open({ listen: false })
    const storage = postgres(pool, { schema })
    const revision = await made(storage, 'w')
    // Autovacuum, which may come first, stays away.
    for (const name of ['jobs', 'open_attempts', 'events']) {
      await pool.query(`alter table ${schema}.${name} set (autovacuum_enabled = off)`)
    }
    await fill(pool, schema)
    let n = 0
    const known = async (): Promise<Known> => {
      const ids = Array.from({ length: 500 }, () => `e${n++}`)
      await storage.events.ingest(
        ids.map((id) => entry('w', revision, event(id), [attempt(`a${id}`, id)])),
        { enqueue },
      )
      const { rows } = await pool.query<{ name: string; rows: number }>(
        `select relname as name, reltuples::float8 as rows from pg_class
         where relnamespace = '${schema}'::regnamespace and relname in ('jobs', 'open_attempts', 'events')`,
      )
      return Object.fromEntries(rows.map((row) => [row.name, row.rows]))
    }
    let last: Known = {}
    await expect.poll(async () => isDone((last = await known())), { timeout: 20_000, interval: 300 }).toBe(true)
    return last
  } finally {
    await schemas.drop()
    await pool.end()
  }
}

type Known = Readonly<Record<string, number>>

/** Leaves jobs and open attempts with pages and without rows. */
async function emptied(pool: Pool, schema: string): Promise<void> {
  await pool.query(`insert into ${schema}.jobs select 'j' || i, 'g', 1 from generate_series(1, 100000) i`)
  await pool.query(`insert into ${schema}.open_attempts select 'o' || i, 1, 'g', 1 from generate_series(1, 100000) i`)
  await pool.query(`delete from ${schema}.jobs`)
  await pool.query(`delete from ${schema}.open_attempts`)
}

test.skipIf(url === null).for([
  { table: 'jobs', enqueue: true },
  { table: 'open_attempts', enqueue: false },
])(
  '$table that were analyzed while there were none are analyzed again when there are some',
  { timeout: 30_000 },
  async ({ table, enqueue }) => {
    const analyzed = async (pool: Pool, schema: string) => {
      await emptied(pool, schema)
      await pool.query(`analyze ${schema}.jobs, ${schema}.open_attempts`)
    }
    const known = await believed(analyzed, enqueue, (rows) => rows[table]! > 0)
    expect(known[table]).toBeGreaterThan(200)
  },
)

test.skipIf(url === null)('an empty table is not analyzed, however large it was', { timeout: 30_000 }, async () => {
  const { jobs } = await believed(emptied, false, (rows) => rows['events']! > 0)
  expect(jobs, 'never analyzed').toBe(-1)
})
