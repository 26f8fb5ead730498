import type { Migration } from './migration.ts'

export const counts: Migration = {
  version: 5,
  sql: `
-- How much a workspace has of what is bounded, written with every write of its configuration.
alter table $schema.endpoints add column patterns integer not null default 0;
alter table $schema.workspaces
  add column endpoint_count bigint not null default 0,
  add column source_count bigint not null default 0,
  add column plugin_count bigint not null default 0,
  add column pattern_count bigint not null default 0;
update $schema.endpoints set patterns = coalesce(json_array_length(document::json -> 'events'), 0);
update $schema.workspaces w set
  endpoint_count = (select count(*) from $schema.endpoints k where k.workspace = w.key),
  source_count = (select count(*) from $schema.sources k where k.workspace = w.key),
  plugin_count = (select count(*) from $schema.plugins k where k.workspace = w.key),
  pattern_count = (select coalesce(sum(k.patterns), 0) from $schema.endpoints k where k.workspace = w.key);
`,
}
