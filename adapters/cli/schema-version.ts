import type { OpenedPostgres } from 'posthorn/postgres'

import { rowsOf } from './database-rows.ts'

/** The version of a schema of PostgreSQL; 0 when it does not exist yet. The name is of letters, digits and underscores. */
export async function schemaVersionOf(database: OpenedPostgres, schema: string): Promise<number> {
  const versions = [0]
  for (const table of ['migrations', 'expansions']) {
    const name = `"${schema}".${table}`
    const [there] = await rowsOf(database, `select to_regclass('${name}') is not null as there`)
    if (there!['there'] !== true) continue // always one row
    const [row] = await rowsOf(database, `select coalesce(max(version), 0) as version from ${name}`)
    versions.push(Number(row!['version']))
  }
  return Math.max(...versions)
}
