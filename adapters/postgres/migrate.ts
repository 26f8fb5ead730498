import { PosthornError } from '../../src/errors.ts'
import { clientOf, type PostgresHandle } from './clients.ts'
import { database, type Database, number } from './database.ts'
import { codeOf } from './errors.ts'
import { migrations } from './migrations.ts'
import { raw, sql } from './sql.ts'
import { checkSchema } from './tables.ts'

/** The version that this package writes and reads. */
export const schemaVersion = migrations.at(-1)!.version

/** A table that is to be changed is in use: others must not wait behind the change, so it is tried again. */
const inUse = '55P03'
const tries = 20
const pauseMs = 500

/** Raised by the statement when the schema is of a later version; `P0001` to `PZZZZ` are free for use. */
const newer = 'PH001'

/**
 * Creates the schema and its tables, or brings them up to date: one statement, so all of it or nothing. Any number of
 * processes may call it at once; the first does the work and the others wait for it.
 *
 * The role needs CREATE on the database, or on the schema where that exists already. To run, a role needs USAGE on the
 * schema, SELECT, INSERT, UPDATE, DELETE on its tables and USAGE on its sequences.
 *
 * It may run beside processes of the version before. A table that it changes is locked for milliseconds, once no
 * transaction that wrote to it is open: it waits a second for these at most, and tries again for half a minute.
 *
 * @throws PosthornError `unavailable` when the schema is of a newer version than this package knows, or a table was in use
 * all the time.
 */
export async function migrate(
  handle: PostgresHandle,
  { schema = 'posthorn' }: { schema?: string } = {},
): Promise<void> {
  const db = database(clientOf(handle), { schema, prepare: false, bound: false })
  for (let n = 1; ; n++) {
    try {
      await db.ask(raw(migrationSql({ schema })))
      return
    } catch (error) {
      const code = error instanceof PosthornError ? codeOf(error.cause) : ''
      if (code === newer) throw new PosthornError('unavailable', newerText(schema), { cause: error })
      if (code !== inUse) throw error
      if (n === tries) throw new PosthornError('unavailable', inUseText(schema), { cause: error })
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}

/**
 * What `migrate` runs, as text, for those who keep migrations elsewhere (Flyway, Prisma, Drizzle): one statement that
 * may be run again at any time.
 */
export function migrationSql({ schema = 'posthorn' }: { schema?: string } = {}): string {
  checkSchema(schema)
  const quoted = `"${schema}"`
  const steps = migrations.map(
    ({ version, sql: statements }) => `
if current_version < ${version} then
${statements.trim().replaceAll('$schema', quoted)}
insert into ${quoted}.migrations (version) values (${version});
end if;`,
  )
  return `do $posthorn$
declare current_version integer;
begin
perform pg_advisory_xact_lock(hashtextextended('posthorn:${schema}', 0));
if not exists (select from pg_namespace where nspname = '${schema}') then
create schema ${quoted};
end if;
if to_regclass('${quoted}.migrations') is null then
create table ${quoted}.migrations (version integer primary key, applied_at timestamptz not null default now());
end if;
select coalesce(max(version), 0) into current_version from ${quoted}.migrations;
if current_version > ${schemaVersion} then
raise exception 'the schema has version %', current_version using errcode = '${newer}';
end if;
${steps.join('\n')}
end
$posthorn$;
`
}

/** Refuses a schema that is missing, older or newer. */
export async function verify({ ask, schema, t }: Database): Promise<void> {
  const [row] = await ask(sql`select coalesce(max(version), 0) as version from ${t.migrations}`)
  const version = number(row?.['version'])
  if (version > schemaVersion) throw new PosthornError('unavailable', newerText(schema))
  if (version < schemaVersion) {
    throw new PosthornError(
      'unavailable',
      `The schema "${schema}" has version ${version}, and this package needs ${schemaVersion}: run migrate()`,
    )
  }
}

function inUseText(schema: string): string {
  return `A table of the schema "${schema}" was in use all the time by a transaction that is open: run migrate() again`
}

function newerText(schema: string): string {
  return `The schema "${schema}" was made by a newer version of posthorn than this one: update the package`
}
