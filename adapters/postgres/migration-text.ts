import { fillText, indexText, type Migration } from './migrations/migration.ts'
import { latestSchemaVersion } from './verify.ts'

/** Raised by the statement when the schema is of a later version; `P0001` to `PZZZZ` are free for use. */
export const newer = 'PH001'
/** Raised where the database cannot hold every text. */
export const wrongEncoding = 'PH003'

/**
 * Steps as one statement. Steps made before are left out. A step waits for locks for half a second, lets others go on
 * for half a second, and so on; meanwhile what the step did before the missing lock is undone. Indexes that exist
 * already are left as they are.
 */
export function migrationText({
  schema,
  lockTimeoutMs,
  steps,
}: {
  schema: string
  lockTimeoutMs: number
  steps: readonly Migration[]
}): string {
  const quoted = `"${schema}"`
  const patience = `interval '${Math.max(1, Math.floor(lockTimeoutMs))} milliseconds'`
  const texts = steps.map(
    ({ version, expands = false, waitsUntil, fill, indexes = [], sql: statements }) => `
if current_version < ${version} then
${waitsUntil === undefined ? '' : `if ${waitsUntil.replaceAll('$schema', quoted)} then`}
give_up_at := clock_timestamp() + ${patience};
loop
begin
set local lock_timeout = '500ms';
${fill === undefined ? '' : fillText(fill, quoted)}
${indexes.map((index) => indexText(index, quoted)).join('\n')}
${statements.trim().replaceAll('$schema', quoted)}
insert into ${quoted}.${expands ? 'expansions' : 'migrations'} (version) values (${version});
exit;
exception when lock_not_available then
if clock_timestamp() >= give_up_at then raise; end if;
perform pg_sleep(0.5);
end;
end loop;
${waitsUntil === undefined ? '' : 'end if;'}
end if;`,
  )
  return `do $posthorn$
declare
current_version integer;
give_up_at timestamptz;
begin
if current_setting('server_encoding') <> 'UTF8' then
raise exception 'the database has the encoding %', current_setting('server_encoding') using errcode = '${wrongEncoding}';
end if;
set local lock_timeout = '${Math.max(1, Math.floor(lockTimeoutMs))}ms';
perform pg_advisory_xact_lock(hashtextextended('posthorn:${schema}', 0));
if not exists (select from pg_namespace where nspname = '${schema}') then
create schema ${quoted};
end if;
if to_regclass('${quoted}.migrations') is null then
create table ${quoted}.migrations (version integer primary key, applied_at timestamptz not null default now());
end if;
select coalesce(max(version), 0) into current_version from ${quoted}.migrations;
if current_version > ${latestSchemaVersion} then
raise exception 'the schema has version %', current_version using errcode = '${newer}';
end if;
if to_regclass('${quoted}.expansions') is not null then
select greatest(current_version, coalesce(max(version), 0)) into current_version from ${quoted}.expansions;
end if;
${texts.join('\n')}
end
$posthorn$;
`
}
