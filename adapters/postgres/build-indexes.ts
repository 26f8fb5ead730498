import { raw, sql } from '../sql/sql.ts'
import type { Database } from './database.ts'
import { type Index, indexText, type Migration } from './migrations/migration.ts'

const pauseMs = 1_000
/** An index of a large table takes as long as it takes. */
const workMs = 24 * 3_600_000

/**
 * Builds the indexes of a step while others read and write. Processes that migrate at once build an index once: the others
 * wait for it. What a process left behind that died meanwhile is dropped, and built anew.
 */
export async function buildIndexes(db: Database, { indexes = [] }: Migration): Promise<void> {
  for (const index of indexes) {
    for (let state = await stateOf(db, index); state !== 'built'; state = await stateOf(db, index)) {
      if (state === 'under way') await new Promise((resolve) => setTimeout(resolve, pauseMs))
      else await build(db, index, state)
    }
  }
}

async function build(db: Database, index: Index, state: 'missing' | 'broken'): Promise<void> {
  const schema = `"${db.schema}"`
  if (state === 'broken') {
    await db.ask(raw(`drop index concurrently if exists ${schema}.${index.name}`), { timeoutMs: workMs })
  }
  await db.ask(raw(indexText(index, schema, true)), { timeoutMs: workMs })
}

type State = 'missing' | 'under way' | 'broken' | 'built'

async function stateOf({ ask, schema }: Database, { name }: Index): Promise<State> {
  const [row] = await ask(sql`
    select i.indisvalid as valid, exists (
      select from pg_locks l
      where l.relation = i.indrelid and l.mode = 'ShareUpdateExclusiveLock' and l.pid <> pg_backend_pid()
        and l.database = (select oid from pg_database where datname = current_database())
    ) as locked
    from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema}::text and c.relname = ${name}::text`)
  if (row === undefined) return 'missing'
  if (row['valid'] === true) return 'built'
  // Who builds an index holds this lock on its table until the end; a vacuum holds it too, and is waited for as well.
  return row['locked'] === true ? 'under way' : 'broken'
}
