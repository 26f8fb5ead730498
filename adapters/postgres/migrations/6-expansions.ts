import type { Migration } from './migration.ts'

export const expansions: Migration = {
  version: 6,
  expands: true,
  sql: `
-- Steps that only add something. Packages of the version before look into \`migrations\`, and start beside these.
create table $schema.expansions (
  version integer primary key,
  applied_at timestamptz not null default now()
);
insert into $schema.expansions (version, applied_at) select version, applied_at from $schema.migrations where version in (4, 5);
delete from $schema.migrations where version in (4, 5);

-- Of an event whose id its publisher chose: what tells the publish that stored it from others with that id.
alter table $schema.events add column token text;

-- The workspace that always exists. Nobody makes it inside a transaction, where others would wait for it.
with moment as (select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms),
made as (
  insert into $schema.workspaces (id, name, metadata, created_at, document, revision, written)
  select 'default', 'default', '{}', ms, json_build_object('id', 'default', 'name', 'default', 'description', null,
    'metadata', json_build_object(), 'created_at', ms, 'updated_at', ms)::text, number, number
  from moment, (select nextval('$schema.revision_numbers') as number) n
  where not exists (select from $schema.handles where handle = 'default')
  on conflict do nothing returning key
)
insert into $schema.handles (handle, workspace) select 'default', key from made on conflict do nothing;
`,
}
