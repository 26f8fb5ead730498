import type { Pool } from 'pg'

import { migrationText } from '../../adapters/postgres/migration-text.ts'
import { migrations } from '../../adapters/postgres/migrations.ts'
import { freshSchema } from './postgres.ts'

/** A schema that lacks the step that changes `events`, and those after it. */
export async function oldSchema(pool: Pool): Promise<string> {
  const schema = freshSchema()
  const steps = migrations.filter(({ version }) => version < 6)
  await pool.query(migrationText({ schema, lockTimeoutMs: 5_000, steps }))
  return schema
}

/** Makes what a build leaves that was broken off: an index of `events` that is not valid. */
export async function leaveBroken(pool: Pool, schema: string, name = 'events_type'): Promise<void> {
  await pool.query(`create index ${name} on ${schema}.events ((1))`)
  await pool.query(`update pg_index set indisvalid = false where indexrelid = '${schema}.${name}'::regclass`)
}

/** The index `events_type`, and what was set aside of it. */
export async function eventsTypeIndexes(pool: Pool, schema: string): Promise<{ name: string; valid: boolean }[]> {
  const { rows } = await pool.query<{ name: string; valid: boolean }>(
    `select c.relname as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relnamespace = $1::regnamespace and c.relname like 'events_type%'`,
    [schema],
  )
  return rows
}
