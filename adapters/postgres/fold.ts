import { systemClock } from '../../src/clock.ts'
import { countNames } from '../../src/core/counts.ts'
import { typeNamer } from '../../src/core/counted-types.ts'
import { type Folded, Folding, type Note, notesIn, type Sum } from '../../src/core/notes.ts'
import { inSlices } from '../../src/runtime/slices.ts'
import { causeColumns } from './causes.ts'
import { json, type Row } from '../sql/values.ts'
import { type Database } from './database.ts'
import { raw, type Sql, sql } from '../sql/sql.ts'

/**
 * Rows of notes that go at once, and their bytes. A row has the notes of what was settled together, fifty bytes each or more. The more
 * notes go at once, the fewer sums are written again and again; but the longer a statement works: 0.2 s for 1,000 endpoints.
 */
const maxRows = raw('250')
const maxBytes = raw('1000000')
const columns = raw(countNames.join(', '))
const typed = raw(countNames.map((name) => `${name} bigint`).join(', '))
const given = raw(countNames.map((name) => `coalesce(${name}, 0)`).join(', '))
const added = raw(countNames.map((name) => `${name} = s.${name} + excluded.${name}`).join(', '))
/** A fold is work for the minute. */
const unhurried = { answerMs: 20_000 }

/**
 * Adds rows of notes to the sums, and deletes them, in one statement, which does nothing where another process took one
 * of these rows meanwhile. Answers how many notes were folded.
 */
export async function foldNotes(db: Database): Promise<number> {
  // Rows of sums that a transaction of the host has written would make others wait for the end of that transaction.
  if (db.bound) return 0
  const { run } = db
  for (;;) {
    const rows = await run(first(db), unhurried)
    if (rows.length === 0) return 0
    const { count, folded } = await foldedOf(db, rows)
    const ids = rows.map((row) => row['id'] as string)
    const [answer] = await run(adding(db, ids, folded), unhurried)
    if (answer!['whole'] === true) return count // a select without a table is one row
  }
}

/** The first rows, of which the first goes whatever its size. Its size is told without reading the notes. */
function first({ t }: Database): Sql {
  return sql`
    select id::text as id, noted from (
      select id, noted, sum(pg_column_size(noted)) over (order by id rows between unbounded preceding and 1 preceding) as bytes
      from (select id, noted from ${t.notes} order by id limit ${maxRows}) n
    ) n where coalesce(bytes, 0) < ${maxBytes} order by n.id`
}

/** What is added, as JSON. */
interface Texts extends Record<keyof Folded, string> {
  readonly types: string
}

/** What rows of notes come to. Made in slices: code that runs once a minute is cold, and held the event loop for 90 ms. */
async function foldedOf(db: Database, rows: readonly Row[]): Promise<{ count: number; folded: Texts }> {
  const notes: Note[] = []
  await inSlices(systemClock(), rows, (row) => {
    for (const note of notesIn(row['noted'] as string)) notes.push(note)
  })
  const places = [...new Set(notes.map(([place]) => String(place)))]
  const folding = new Folding(typeNamer(await knownTypes(db, places)))
  await inSlices(systemClock(), notes, (note) => folding.add(note))
  const { minutes, hours, streaks, causes } = folding.folded()
  return {
    count: notes.length,
    folded: {
      minutes: await textOf(minutes, rowOf),
      hours: await textOf(hours, rowOf),
      types: await textOf(typesOf(hours), (type) => type),
      streaks: await textOf(streaks, (streak) => streak),
      causes: json(causes),
    },
  }
}

/** When each event type was counted last. */
function typesOf(hours: readonly Sum[]) {
  const types = new Map<string, Pick<Sum, 'place' | 'event_type' | 'time'>>()
  for (const { place, event_type, time } of hours) {
    const key = `${place} ${event_type}`
    if (time > (types.get(key)?.time ?? -Infinity)) types.set(key, { place, event_type, time })
  }
  return [...types.values()]
}

async function textOf<Entry>(entries: readonly Entry[], shown: (entry: Entry) => object): Promise<string> {
  const texts: string[] = []
  await inSlices(systemClock(), entries, (entry) => void texts.push(JSON.stringify(shown(entry))))
  return `[${texts.join(',')}]`
}

async function knownTypes({ run, t }: Database, places: readonly string[]): Promise<Map<string, Set<string>>> {
  const known = new Map<string, Set<string>>()
  const rows = await run(sql`
    select workspace::text as place, event_type from ${t.counted_types}
    where workspace = any(${places}::text[]::bigint[])`)
  for (const row of rows) {
    const place = row['place'] as string
    const types = known.get(place) ?? new Set()
    known.set(place, types.add(row['event_type'] as string))
  }
  return known
}

/** Sums are added where the workspace still exists. Rows are in order, so that two folds never wait for each other. */
function adding({ t }: Database, ids: readonly string[], folded: Texts): Sql {
  const { minutes, hours, types, streaks, causes } = folded
  const there = sql`join ${t.workspaces} w on w.key = g.place where (select ok from whole)`
  return sql`
    with held as materialized (
      select id from ${t.notes} where id = any(${ids}::text[]::bigint[]) order by id for update
    ),
    whole as materialized (select count(*) = ${ids.length}::int as ok from held),
    taken as (delete from ${t.notes} where id in (select id from held) and (select ok from whole)),
    by_minute as (
      insert into ${t.minute_sums} as s (workspace, time, endpoint_id, ${columns})
      select g.place, g.time, g.endpoint_id, ${given}
      from jsonb_to_recordset(${minutes}::text::jsonb)
        as g (place bigint, time bigint, endpoint_id text collate "C", ${typed}) ${there}
      order by 1, 2, 3
      on conflict (workspace, time, endpoint_id) do update set ${added}
    ),
    by_hour as (
      insert into ${t.hour_sums} as s (workspace, time, endpoint_id, event_type, ${columns})
      select g.place, g.time, g.endpoint_id, g.event_type, ${given}
      from jsonb_to_recordset(${hours}::text::jsonb)
        as g (place bigint, time bigint, endpoint_id text collate "C", event_type text collate "C", ${typed}) ${there}
      order by 1, 2, 3, 4
      on conflict (workspace, time, endpoint_id, event_type) do update set ${added}
    ),
    types as (
      insert into ${t.counted_types} as c (workspace, event_type, counted_at)
      select g.place, g.event_type, g.time
      from jsonb_to_recordset(${types}::text::jsonb)
        as g (place bigint, time bigint, event_type text collate "C") ${there}
      order by 1, 2
      on conflict (workspace, event_type) do update set counted_at = excluded.counted_at
      where c.counted_at < excluded.counted_at
    ),
    streaks as (
      insert into ${t.streaks} as s (workspace, endpoint_id, succeeded_at, failed_at, attempt_id, failures, exhausted)
      select g.place, g.endpoint_id, succeeded_at, failed_at, attempt_id, failures, exhausted
      from jsonb_to_recordset(${streaks}::text::jsonb)
        as g (place bigint, endpoint_id text collate "C", succeeded_at bigint, failed_at bigint,
          attempt_id text collate "C", failures bigint, exhausted bigint) ${there}
      order by 1, 2
      -- As joinedStreak of core/notes.ts says.
      on conflict (workspace, endpoint_id) do update set
        succeeded_at = greatest(s.succeeded_at, excluded.succeeded_at),
        failed_at = greatest(s.failed_at, excluded.failed_at),
        attempt_id = case when excluded.failed_at >= coalesce(s.failed_at, excluded.failed_at)
          then excluded.attempt_id else s.attempt_id end,
        failures = excluded.failures + case when excluded.succeeded_at >= coalesce(s.failed_at, excluded.succeeded_at)
          then 0 else s.failures end,
        exhausted = excluded.exhausted + case when excluded.succeeded_at >= coalesce(s.failed_at, excluded.succeeded_at)
          then 0 else s.exhausted end
    ),
    causes as (
      insert into ${t.causes} (kind, id, workspace_id, endpoint_id, attempt_id, at, reason)
      select g.kind, g.id, w.id, g.endpoint_id, g.attempt_id, g.at, g.reason
      from jsonb_to_recordset(${causes}::text::jsonb) as g (${causeColumns})
      join ${t.workspaces} w on w.key = g.workspace_id::bigint where (select ok from whole)
      order by 1, 2 on conflict do nothing
    )
    select ok as whole from whole`
}

/** Most counts of a sum are 0, and left out. */
function rowOf({ place, time, endpoint_id, event_type, counts }: Sum) {
  const row: Record<string, string | number> = { place, time, endpoint_id, event_type }
  counts.forEach((count, i) => {
    if (count > 0) row[countNames[i]!] = count
  })
  return row
}
