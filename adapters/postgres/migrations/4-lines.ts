import type { Migration } from './migration.ts'

export const lines: Migration = {
  version: 4,
  sql: `
-- Workspaces take turns. Claims lock these tables in this order too.
lock table $schema.hints, $schema.groups in access exclusive mode;

-- The workspace of a group is that of its endpoint. \`ready_at\` is when the group may be claimed, its pause counted.
alter table $schema.hints add column workspace text collate "C";
alter table $schema.groups add column workspace text collate "C",
  add column ready_at bigint generated always as (case when next_at is not null then greatest(next_at, paused_until) end) stored;
update $schema.groups g set workspace = w.id
from $schema.endpoints e join $schema.workspaces w on w.key = e.workspace where e.id = g.id;
update $schema.hints h set workspace = w.id
from $schema.endpoints e join $schema.workspaces w on w.key = e.workspace where e.id = h.group_id;
create index groups_ready on $schema.groups (workspace, ready_at) where ready_at is not null;
drop index $schema.groups_next;

-- What groups are for jobs, lines are for groups: \`ready_at\` of a line is never later than that of any group of the
-- workspace, or a hint says so.
create table $schema.lines (
  workspace text collate "C" primary key,
  ready_at bigint,
  served_at bigint,
  version bigint not null default 0
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
create index lines_turn on $schema.lines (greatest(ready_at, served_at)) where ready_at is not null;
insert into $schema.lines (workspace, ready_at)
select workspace, min(ready_at) from $schema.groups where ready_at is not null and workspace is not null group by workspace;
`,
}
