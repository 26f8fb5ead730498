import { PosthornError } from '../../src/errors.ts'
import { raw, sql } from '../sql/sql.ts'
import { number } from '../sql/values.ts'
import type { Database } from './database.ts'
import { isCollision, isLockTimeout } from './errors.ts'
import { type Fill, type Index, indexText, type Migration, tableOf } from './migrations/migration.ts'

const pauseMs = 1_000
/** A transaction that is in the way for so long is not waited for any longer: it is a dump, or was left open. */
const patienceWithOneMs = 10_000
/** An index of a large table takes as long as it takes. */
const workMs = 24 * 3_600_000

/** So often PostgreSQL may refuse to change an index because others change it at the same moment. */
const maxCollisions = 10

/** Rows that are filled at once. */
const maxFilled = 1_000

/** Fills rows of a step while others read and write. A fill that was broken off begins anew, and finds less to do. */
export async function fillRows(db: Database, { fill }: Migration): Promise<void> {
  for (let last = fill === undefined ? null : ''; last !== null;) last = await fillSome(db, fill!, last)
}

/** Answers the key of the last row that was looked at; null at the end. */
async function fillSome(db: Database, { table, key, where, set }: Fill, after: string): Promise<string | null> {
  const schema = `"${db.schema}"`
  const [row] = await db.ask(
    sql`
    with part as materialized (
      select ${raw(key)} as key from ${raw(`${schema}.${table}`)} r
      where ${raw(key)} > ${after}::text and ${raw(where)} order by ${raw(key)} limit ${maxFilled}::int
    ),
    filled as (
      update ${raw(`${schema}.${table}`)} r set ${raw(set.replaceAll('$schema', schema))}
      and r.${raw(key)} = any(array(select key from part))
    )
    select max(key) as last from part`,
    { timeoutMs: workMs },
  )
  return (row?.['last'] as string | null | undefined) ?? null
}

/**
 * Builds the indexes of a step while others read and write. Processes that migrate at once build an index once: the others
 * wait for it. What a process left behind that died meanwhile is set aside, dropped, and built anew.
 */
export async function buildIndexes(db: Database, { indexes = [] }: Migration): Promise<void> {
  for (const index of indexes) {
    let collisions = 0
    for (let state = await stateOf(db, index); state !== 'built'; state = await stateOf(db, index)) {
      try {
        if (state === 'broken') await setAside(db, index)
        if (state === 'set aside') await dropAside(db, index)
        if (state === 'missing') await build(db, index)
        if (state === 'under way') await pause()
      } catch (error) {
        // The next look shows what became of the index.
        if (!isCollision(error) || ++collisions === maxCollisions) throw error
        await pause()
      }
    }
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, pauseMs))
}

/** The name of what is left of a broken index. Nobody builds one of this name. */
function asideOf({ name }: Index): string {
  return `${name}_broken`
}

/**
 * Gives a broken index another name. It is looked at anew under the lock that a build holds until its end, so that an index
 * which another process has built meanwhile stays as it is: no drop could be sure of that, for it cannot be part of a
 * transaction, and has no condition.
 */
async function setAside(db: Database, index: Index): Promise<void> {
  const schema = `"${db.schema}"`
  const text = `do $posthorn$
begin
lock table ${schema}.${tableOf(index)} in share update exclusive mode nowait;
if to_regclass('${schema}.${asideOf(index)}') is null and exists (
select from pg_index where indexrelid = to_regclass('${schema}.${index.name}') and not indisvalid
) then
alter index ${schema}.${index.name} rename to ${asideOf(index)};
end if;
end
$posthorn$`
  try {
    await db.ask(raw(text), { readCommitted: true })
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    await pause() // somebody builds, or changes the table
  }
}

async function dropAside(db: Database, index: Index): Promise<void> {
  const text = `drop index concurrently if exists "${db.schema}".${asideOf(index)}`
  await db.ask(raw(text), { timeoutMs: workMs, outside: true })
}

async function build(db: Database, index: Index): Promise<void> {
  const schema = `"${db.schema}"`
  const building = db.ask(raw(indexText(index, schema, true)), { timeoutMs: workMs, outside: true }).then(
    () => ({ cause: null }),
    (cause: unknown) => ({ cause }),
  )
  const holder = await inTheWayOf(db, index, building)
  if (holder !== null) await db.ask(sql`select pg_cancel_backend(${holder.builder}::int) as canceled`)
  const { cause } = await building
  if (cause === null) return
  if (holder === null) throw cause
  const text = `The index ${schema}.${index.name} could not be built: the open transaction of backend ${holder.pid} is in the way. End it, and migrate again`
  throw new PosthornError('unavailable', text, { cause })
}

interface Holder {
  readonly pid: number
  /** The backend that builds. */
  readonly builder: number
}

/** A transaction that a build has waited for longer than it is waited for; null once the build has ended. */
async function inTheWayOf(
  { ask, schema }: Database,
  { name }: Index,
  building: Promise<unknown>,
): Promise<Holder | null> {
  let known: number | undefined
  let since = 0
  let isOver = false
  const ended = building.then(() => (isOver = true))
  for (;;) {
    await Promise.race([ended, pause()])
    if (isOver) return null
    const [row] = await ask(sql`
      select p.pid, p.current_locker_pid as holder
      from pg_stat_progress_create_index p join pg_class c on c.oid = p.index_relid
      join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${schema}::text and c.relname = ${name}::text and p.phase like 'waiting for%'
        and p.datname = current_database() and p.current_locker_pid > 0`)
    const holder: Holder | null = row === undefined ? null : { pid: number(row['holder']), builder: number(row['pid']) }
    if (holder?.pid !== known) since = performance.now()
    known = holder?.pid
    if (holder !== null && performance.now() - since >= patienceWithOneMs) return holder
  }
}

/** `set aside`: what is left of a broken index stands under another name. */
type State = 'missing' | 'under way' | 'broken' | 'set aside' | 'built'

async function stateOf({ ask, schema }: Database, index: Index): Promise<State> {
  const rows = await ask(sql`
    select c.relname as name, i.indisvalid as valid, exists (
      select from pg_locks l
      where l.relation = i.indrelid and l.mode = 'ShareUpdateExclusiveLock' and l.pid <> pg_backend_pid()
        and l.database = (select oid from pg_database where datname = current_database())
    ) as locked
    from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema}::text and c.relname = any(${[index.name, asideOf(index)]}::text[])`)
  const own = rows.find(({ name }) => name === index.name)
  const aside = rows.find(({ name }) => name === asideOf(index))
  if (own?.['valid'] === true && aside === undefined) return 'built'
  // Who builds or drops an index holds this lock on the index's table until the end. A vacuum holds the lock too, and we
  // wait for it as well.
  if (rows.some(({ locked }) => locked === true)) return 'under way'
  if (aside !== undefined) return 'set aside'
  return own === undefined ? 'missing' : 'broken'
}
