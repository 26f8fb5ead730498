import type { Enqueueing } from '../../src/contracts/storage/attempts.ts'
import type { IngestAnswer, IngestEntry } from '../../src/contracts/storage/events.ts'
import type { StoredEvent } from '../../src/schema/event.ts'
import { PosthornError } from '../../src/errors.ts'
import { isStorableText } from '../../src/schema/fields.ts'
import { json, number, type Row } from '../sql/values.ts'
import type { Database } from './database.ts'
import { contested, contestedKeys } from './contested.ts'
import { isLockTimeout, isRace, isRefusal } from './errors.ts'
import { type Columns, idsIn, joinedIds, rowsOf } from '../sql/columns.ts'
import { eventColumns, eventOf } from '../sql/rows.ts'
import { type JobsOfAttempts, jobsOfAttempts, lowOf, newAttempts, openAttempts } from './open-attempts.ts'
import { nothing, raw, sql } from '../sql/sql.ts'
import type { Notify } from './notify.ts'
import { granted, leaseColumns } from './queue.ts'

/** Stores events with their attempts and answers entry by entry. */
export async function ingest(
  db: Database,
  notify: Notify,
  entries: readonly IngestEntry[],
  { enqueue }: Enqueueing,
): Promise<readonly IngestAnswer[]> {
  const answers = new Map<IngestEntry, IngestAnswer>()
  const jobs = await jobsOfAttempts(db, enqueue)
  let waiting: readonly IngestEntry[] = entries.filter((entry) => {
    if (isStorable(entry)) return true
    answers.set(entry, { kind: 'rejected', cause: new Error('a text holds U+0000 or an unpaired surrogate') })
    return false
  })
  // A statement takes an id and a unique id once: from the first entry that has it. Entries that repeat that id get
  // their answer from the first entry, or wait.
  for (let rounds = 0; waiting.length > 0; rounds++) {
    if (rounds > entries.length + 3) throw new PosthornError('unavailable', 'The events could not be stored')
    const { first, repeats } = split(waiting)
    for (const [entry, answer] of await round(db, first, jobs)) answers.set(entry, answer)
    for (const [entry, before] of repeats) {
      const answer = repeated(entry, before, answers.get(before))
      if (answer !== null) answers.set(entry, answer)
    }
    waiting = waiting.filter((entry) => !answers.has(entry))
  }

  db.passed(entries.reduce((rows, { attempts }) => rows + Math.max(attempts.length, 1), 0))
  if (enqueue && db.woken === null && entries.some((entry) => someWait(entry, answers.get(entry)))) await notify('jobs')
  return entries.map((entry) => answers.get(entry)!) // nobody waits any more
}

/** Whether PostgreSQL can hold the texts of an entry. */
function isStorable({ event, attempts, trace, token }: IngestEntry): boolean {
  return (
    isStorableText(event.id) &&
    isStorableText(event.event_type) &&
    isStorableText(event.data) &&
    [event.unique_id, trace, token].every((text) => (text ?? null) === null || isStorableText(text!)) &&
    attempts.every(({ id, endpoint_id }) => isStorableText(id) && isStorableText(endpoint_id))
  )
}

/** Whether jobs of an entry wait to be claimed. */
function someWait({ attempts }: IngestEntry, answer: IngestAnswer | undefined): boolean {
  return answer?.kind === 'stored' && attempts.length > (answer.held?.length ?? 0)
}

/** The first entry with each id, and entries that repeat the id of such an entry. */
function split(entries: readonly IngestEntry[]) {
  const byId = new Map<string, IngestEntry>()
  const byUniqueId = new Map<string, IngestEntry>()
  const first: IngestEntry[] = []
  const repeats: [entry: IngestEntry, before: IngestEntry][] = []
  for (const entry of entries) {
    const { id, unique_id } = entry.event
    const key = unique_id === null ? null : json([entry.workspaceId, unique_id])
    const before = byId.get(id) ?? (key === null ? undefined : byUniqueId.get(key))
    if (before !== undefined) {
      repeats.push([entry, before])
      continue
    }
    byId.set(id, entry)
    if (key !== null) byUniqueId.set(key, entry)
    first.push(entry)
  }
  return { first, repeats }
}

/**
 * The answer to an entry that follows from the answer to an earlier entry with the same id or unique id; null when none
 * follows.
 */
function repeated(entry: IngestEntry, before: IngestEntry, answer: IngestAnswer | undefined): IngestAnswer | null {
  const { event, workspaceId } = entry
  if (answer === undefined) return null
  if (answer.kind === 'held') return answer
  if (before.workspaceId === workspaceId) {
    if (answer.kind === 'stored' && isOfCall(before.event, before.token, entry)) return answer
    if (event.unique_id !== null && event.unique_id === before.event.unique_id && event.id !== before.event.id) {
      if (answer.kind === 'duplicate') return answer
      return answer.kind === 'stored' ? { kind: 'duplicate', event: before.event } : null
    }
  }
  const isTaken = event.id === before.event.id && (answer.kind === 'stored' || answer.kind === 'id_taken')
  return isTaken && event.unique_id === null ? { kind: 'id_taken' } : null
}

/**
 * One try at entries whose ids differ. Entries that it cannot answer, since others write the same ids just now, are
 * left out. `areNew`: nothing of them is stored. They nearly always are; else, where a call whose answer was lost stored them, they
 * are tried again.
 */
async function round(
  db: Database,
  entries: readonly IngestEntry[],
  jobs: JobsOfAttempts,
  areNew = !db.bound && !entries.some(isContested),
): Promise<readonly (readonly [IngestEntry, IngestAnswer])[]> {
  try {
    const { outcome, leased } = await store(db, entries, jobs, areNew)
    const answers: (readonly [IngestEntry, IngestAnswer])[] = []
    for (const entry of entries) {
      const kind = outcome.get(entry.event.id)
      if (kind === undefined) continue
      const held = leased.size === 0 ? [] : entry.attempts.map(({ id }) => id).filter((id) => leased.has(id))
      answers.push([entry, held.length === 0 ? { kind } : { kind: 'stored', held }])
    }
    const rest = entries.length === answers.length ? [] : entries.filter((entry) => !outcome.has(entry.event.id))
    return rest.length === 0 ? answers : [...answers, ...(await explain(db, rest))]
  } catch (cause) {
    if (areNew && isRace(cause)) return await round(db, entries, jobs, false)
    const isHeld = isLockTimeout(cause)
    if (db.bound || !(isHeld || isRefusal(cause))) throw cause
    if (entries.length === 1) return [[entries[0]!, isHeld ? { kind: 'held' } : { kind: 'rejected', cause }]]
    // The engine refuses the batch for one of the entries: halve the batch until that entry stands alone.
    const half = entries.length >> 1
    return [
      ...(await round(db, entries.slice(0, half), jobs, false)),
      ...(await round(db, entries.slice(half), jobs, false)),
    ]
  }
}

const idOf = ({ event }: IngestEntry): string => event.id

const entryColumns: Columns<IngestEntry> = {
  workspace_id: ['id', ({ workspaceId }) => workspaceId],
  revision: ['bigint', ({ revision }) => revision],
  event_type: ['text', ({ event }) => event.event_type],
  data: ['text', ({ event }) => event.data],
  unique_id: ['id', ({ event }) => event.unique_id],
  trace: ['text', ({ trace }) => trace],
  token: ['text', ({ token }) => token],
  ingested_at: ['bigint', ({ event }) => event.ingested_at],
  created_at: ['bigint', ({ event }) => event.created_at],
  updated_at: ['bigint', ({ event }) => event.updated_at],
}
const contestedColumns: Columns<IngestEntry> = {
  ...entryColumns,
  keys: ['jsonb', (entry) => json(contestedKeys(entry))],
}

/** Whether others may write the same ids. */
function isContested(entry: IngestEntry): boolean {
  return contestedKeys(entry).length > 0
}

/** What became of events, by their ids. Those that something stands against are not in it. */
type Outcome = ReadonlyMap<string, 'stored' | 'held'>

/** Stores what nothing stands against. `leased`: the attempts whose jobs are held. */
async function store(
  db: Database,
  entries: readonly IngestEntry[],
  jobs: JobsOfAttempts,
  areNew: boolean,
): Promise<{ readonly outcome: Outcome; readonly leased: ReadonlySet<string> }> {
  const { run, t } = db
  const someContested = entries.some(isContested)
  const planned = entries.flatMap(({ attempts }) => attempts)
  const isLeased = jobs !== null && planned.some(({ lease }) => lease !== undefined)
  const woken = jobs === null ? nothing : (db.woken ?? nothing)
  const rows = await run(sql`
    with planned as materialized (
      ${newAttempts(planned, isLeased ? leaseColumns : {})}
    ),
    ${isLeased ? sql`lease as materialized (select * from ${granted(db, sql`select * from planned`)} l),` : nothing}
    given as materialized (
      select w.key as workspace, g.*
      from (${rowsOf(entries, idOf, someContested ? contestedColumns : entryColumns)}) g
      join ${t.workspaces} w on w.id = g.workspace_id and w.revision = g.revision
      where not exists (select from ${t.events} e where e.id = g.id)
        and g.id <> all(array(
          select p.event_id from planned p join ${t.attempts} a on a.id = p.id
          where a.id = any(array(select id from planned))
        ))
    ),
    ${someContested ? contested(db) : sql`free as (select * from given), held as (select id from given where false),`}
    -- Whoever comes second at the same moment waits here, then finds it taken.
    claimed as (
      insert into ${t.unique_ids} (workspace, unique_id, event_id)
      select workspace, unique_id, id from free where unique_id is not null order by workspace, unique_id
      on conflict do nothing returning event_id
    ),
    stored as (
      insert into ${t.events} (id, workspace, event_type, unique_id, data, trace, token, ingested_at, created_at, updated_at)
      select id, workspace, event_type, unique_id, data, trace, token, ingested_at, created_at, updated_at from free
      where unique_id is null or id in (select event_id from claimed) order by id
      ${areNew ? nothing : raw('on conflict do nothing')} returning id, workspace
    ),
    ${openAttempts(db, sql`select p.*, s.workspace from planned p join stored s on s.id = p.event_id`, jobs, {
      low: lowOf(planned),
      leases: isLeased ? raw('lease') : null,
      areNew,
    })}
    select ${joinedIds} as ids, 'stored' as kind from stored union all select ${joinedIds}, 'held' from held
    ${isLeased ? sql`union all select ${joinedIds}, 'leased' from queued where token is not null` : nothing} ${woken}`)
  const idsOf = (kind: string) => idsIn(rows.find((row) => row['kind'] === kind)?.['ids'] ?? null)
  const outcome = new Map<string, 'stored' | 'held'>()
  for (const id of idsOf('stored')) outcome.set(id, 'stored')
  for (const id of idsOf('held')) outcome.set(id, 'held')
  return { outcome, leased: new Set(idsOf('leased')) }
}

/** Says of entries that were not stored why not, in a statement that sees what others wrote meanwhile. */
async function explain(
  { run, t }: Database,
  entries: readonly IngestEntry[],
): Promise<readonly (readonly [IngestEntry, IngestAnswer])[]> {
  const none = raw(`null as id, null as event_type, null as data, null::bigint as ingested_at, null as unique_id,
    null::bigint as created_at, null::bigint as updated_at, null as token`)
  const given = sql`given as materialized (
    select * from jsonb_to_recordset(${json(
      entries.map(({ workspaceId, event, attempts }) => ({
        id: event.id,
        workspace_id: workspaceId,
        unique_id: event.unique_id,
        attempts: attempts.map(({ id }) => id),
      })),
    )}::text::jsonb) as g (id text collate "C", workspace_id text collate "C", unique_id text collate "C", attempts jsonb)
  )`
  const rows = await run(sql`
    with ${given}
    select g.id as entry, 'here' as what, w.revision, ${none} from given g join ${t.workspaces} w on w.id = g.workspace_id
    union all
    select g.id, 'there', w.revision, ${eventColumns}, e.token
    from given g
    cross join lateral (select * from ${t.events} where id = g.id limit 1) e
    left join ${t.workspaces} w on w.key = e.workspace and w.id = g.workspace_id
    union all
    select g.id, 'seen', w.revision, ${eventColumns}, null
    from given g
    join ${t.workspaces} w on w.id = g.workspace_id
    cross join lateral (
      select event_id from ${t.unique_ids} where workspace = w.key and unique_id = g.unique_id limit 1
    ) u
    cross join lateral (
      select * from ${t.events} where id = u.event_id and workspace = w.key and unique_id = g.unique_id limit 1
    ) e
    union all
    select g.id, 'attempt', null, a.id, ${raw('null, null, null::bigint, null, null::bigint, null::bigint, null')}
    from given g
    cross join lateral jsonb_array_elements_text(g.attempts) p (id)
    cross join lateral (select id from ${t.attempts} where id = p.id limit 1) a`)

  const of = new Map(entries.map(({ event }) => [event.id, new Map<unknown, Row>()]))
  for (const row of rows) of.get(row['entry'] as string)!.set(row['what'], row) // entries were asked for by their ids
  const answers = entries.flatMap((entry) => {
    const answer = explained(entry, of.get(entry.event.id)!)
    return answer === null ? [] : [[entry, answer] as const]
  })
  if (answers.length < entries.length) {
    // A client's event id that another event took at the very moment leaves its unique id with no event: give it free.
    await run(sql`
      with ${given}
      delete from ${t.unique_ids} u using given g join ${t.workspaces} w on w.id = g.workspace_id
      where u.workspace = w.key and u.unique_id = g.unique_id and not exists (
        select from ${t.events} e where e.id = u.event_id and e.workspace = u.workspace and e.unique_id = u.unique_id
      )`)
  }
  return answers
}

/** Why an entry was not stored; null when nothing stands against it any more. */
function explained(entry: IngestEntry, rows: ReadonlyMap<unknown, Row>): IngestAnswer | null {
  const here = rows.get('here')
  const there = rows.get('there')
  const seen = rows.get('seen')
  const attempt = rows.get('attempt')
  if (here === undefined) return { kind: 'stale' }
  if (there !== undefined && there['revision'] !== null) {
    const token = (there['token'] ?? undefined) as string | undefined // a text column
    if (isOfCall(eventOf(there), token, entry)) return { kind: 'stored' }
  }
  if (seen !== undefined) return { kind: 'duplicate', event: eventOf(seen) }
  if (there !== undefined) return { kind: 'id_taken' }
  if (number(here['revision']) !== entry.revision) return { kind: 'stale' }
  if (attempt === undefined) return null
  return { kind: 'rejected', cause: new Error(`attempt id ${attempt['id'] as string} is taken`) }
}

/** Whether an event was stored by an earlier flush of the same call. */
function isOfCall(stored: StoredEvent, token: string | undefined, { event, token: own }: IngestEntry): boolean {
  if (own !== undefined) return token === own
  return (
    stored.id === event.id &&
    stored.event_type === event.event_type &&
    stored.data === event.data &&
    stored.unique_id === event.unique_id &&
    stored.ingested_at === event.ingested_at &&
    stored.created_at === event.created_at
  )
}
