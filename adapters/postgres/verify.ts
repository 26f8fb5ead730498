import { PosthornError } from '../../src/errors.ts'
import { number } from '../sql/values.ts'
import type { Database } from './database.ts'
import { migrations } from './migrations.ts'
import { verifyRights } from './rights.ts'
import { raw, sql } from '../sql/sql.ts'

/** The version that `migrate` brings a schema to, once no process of the version before is left. */
export const latestSchemaVersion = migrations.at(-1)!.version

/** The version that this package needs: all but the last step, which may wait. See `migrate`. */
export const schemaVersion = migrations.findLast(({ waitsUntil }) => waitsUntil === undefined)!.version // the first waits for nothing

/** The versions of a schema: of the latest step, and of the latest step that older packages cannot work beside. */
export async function versionsOf({ ask, schema, t }: Database): Promise<{ latest: number; breaking: number }> {
  const [there] = await ask(sql`
    select to_regclass(${`"${schema}".migrations`}::text) is not null as migrated,
      to_regclass(${`"${schema}".expansions`}::text) is not null as expanded`)
  if (there!['migrated'] !== true) return { latest: 0, breaking: 0 }
  const all = there!['expanded'] === true ? sql`union all select version from ${t.expansions}` : raw('')
  const [row] = await ask(sql`
    select coalesce(max(version), 0) as latest, (select coalesce(max(version), 0) from ${t.migrations}) as breaking
    from (select version from ${t.migrations} ${all}) v`)
  const breaking = number(row!['breaking']) // aggregates are one row
  // This package cannot work beside a later step that does more than add something.
  if (breaking > latestSchemaVersion) throw new PosthornError('unavailable', newerText(schema))
  return { latest: number(row!['latest']), breaking }
}

/** Refuses a schema that is missing, older, or newer by a step that breaks this package, and an encoding that is not UTF8. */
export async function verify(db: Database): Promise<void> {
  const { schema } = db
  const encoding = await encodingOf(db)
  if (encoding !== 'UTF8') throw new PosthornError('unavailable', await encodingText(db))
  await verifyRights(db)
  const { latest } = await versionsOf(db)
  if (latest === 0) throw new PosthornError('unavailable', `The schema "${schema}" is missing: run migrate()`)
  if (latest < schemaVersion) {
    throw new PosthornError(
      'unavailable',
      `The schema "${schema}" has version ${latest}, and this package needs ${schemaVersion}: run migrate()`,
    )
  }
}

async function encodingOf({ ask }: Database): Promise<unknown> {
  const [row] = await ask(sql`select current_setting('server_encoding') as encoding`)
  return row!['encoding']
}

export async function encodingText(db: Database): Promise<string> {
  return `The database has the encoding ${String(await encodingOf(db))}, which cannot hold every text: make it with encoding UTF8`
}

function newerText(schema: string): string {
  return `The schema "${schema}" was made by a newer version of posthorn than this one: update the package`
}
