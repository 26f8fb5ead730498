import { raw, type Sql } from '../sql/sql.ts'

const names = [
  'migrations',
  'expansions',
  'revision_numbers',
  'workspaces',
  'handles',
  'graves',
  'endpoints',
  'sources',
  'plugins',
  'routes',
  'revisions', // read by the version before
  'events',
  'unique_ids',
  'attempts',
  'open_attempts',
  'open_anywhere',
  'outcomes',
  'tallies',
  'jobs',
  'groups',
  'lines',
  'hints',
  'messages',
  'dead_messages',
  'limits',
  'turns',
  'probes',
  'revisited',
  'notes',
  'minute_sums',
  'hour_sums',
  'day_sums',
  'counted_types',
  'streaks',
  'causes',
  'processes',
  'keyed_requests',
] as const

/** The tables as statements name them, with their schema. */
export type Tables = Readonly<Record<(typeof names)[number], Sql>>

export function tables(schema: string): Tables {
  return Object.fromEntries(names.map((name) => [name, raw(`"${schema}".${name}`)])) as Tables // all names exist
}

/** A schema name that needs no quoting and no escaping anywhere. */
export function checkSchema(schema: string): void {
  if (!/^[a-z_][a-z0-9_]{0,48}$/.test(schema) || schema.startsWith('pg_')) {
    throw new TypeError(`schema must match [a-z_][a-z0-9_]{0,48} and not begin with pg_: ${JSON.stringify(schema)}`)
  }
}
