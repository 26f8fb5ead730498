import { PosthornError } from '../../src/errors.ts'
import type { Database } from './database.ts'
import { sql } from '../sql/sql.ts'
import type { Tables } from './tables.ts'

type Right = 'select' | 'insert' | 'update' | 'delete'

const all: readonly Right[] = ['select', 'insert', 'update', 'delete']
const withoutUpdate: readonly Right[] = ['select', 'insert', 'delete']

/** What a role needs to run, table by table. A table whose rows are locked needs `update`. */
const rights: Readonly<Record<keyof Tables, readonly Right[]>> = {
  migrations: ['select'],
  expansions: ['select'],
  revision_numbers: [], // a sequence
  workspaces: all,
  handles: withoutUpdate,
  graves: withoutUpdate,
  endpoints: all,
  sources: all,
  plugins: all,
  routes: withoutUpdate,
  revisions: ['select', 'update'],
  events: all,
  unique_ids: withoutUpdate,
  attempts: withoutUpdate,
  open_attempts: all,
  open_anywhere: ['select'], // a view
  outcomes: all,
  tallies: all,
  jobs: all,
  groups: all,
  lines: all,
  hints: all,
  messages: all,
  dead_messages: ['select', 'insert'],
  limits: all,
  turns: ['select', 'insert', 'update'],
  probes: ['select', 'insert'],
  revisited: withoutUpdate,
  notes: all,
  minute_sums: all,
  hour_sums: all,
  day_sums: all,
  counted_types: all,
  streaks: all,
  causes: withoutUpdate,
  processes: all,
  keyed_requests: all,
}

/** The rights of a role as statements, as docs/postgres-roles.md lists them. */
export function grants(schema: string, role: string): string[] {
  const byRights = new Map<string, string[]>()
  for (const [table, needed] of Object.entries(rights)) {
    const tables = byRights.get(needed.join(', ')) ?? []
    byRights.set(needed.join(', '), [...tables, `${schema}.${table}`])
  }
  byRights.delete('')
  return [
    `grant usage on schema ${schema} to ${role};`,
    `grant usage on sequence ${schema}.revision_numbers to ${role};`,
    ...[...byRights].map(([needed, tables]) => `grant ${needed} on ${tables.join(', ')} to ${role};`),
  ]
}

/** Refuses a role that lacks a right, and names each that is missing. */
export async function verifyRights({ ask, schema }: Database): Promise<void> {
  const needed = Object.entries(rights).flatMap(([name, each]) => each.map((right) => `${name} ${right}`))
  const rows = await ask(sql`
    select 'usage' as right, n.nspname::text as name, true as is_schema, current_user::text as role
    from pg_namespace n where n.nspname = ${schema}::text and not has_schema_privilege(n.oid, 'usage')
    union all
    select split_part(w.needed, ' ', 2), c.relname, false, current_user
    from unnest(${needed}::text[]) w (needed) join pg_class c on c.relname = split_part(w.needed, ' ', 1)
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema}::text and not has_table_privilege(c.oid, split_part(w.needed, ' ', 2))
    union all
    select 'usage', c.relname, false, current_user
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema}::text and c.relname = 'revision_numbers' and not has_sequence_privilege(c.oid, 'usage')`)
  if (rows.length === 0) return
  const missing = rows.map(({ right, name, is_schema: isSchema }) =>
    isSchema === true ? `usage on schema ${String(name)}` : `${String(right)} on ${schema}.${String(name)}`,
  )
  throw new PosthornError(
    'unavailable',
    `The role "${String(rows[0]!['role'])}" lacks ${missing.join(', ')} (see docs/postgres-roles.md)`,
  )
}
