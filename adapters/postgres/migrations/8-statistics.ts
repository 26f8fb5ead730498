import type { Migration } from './migration.ts'

const counts = `
  succeeded bigint not null, failed bigint not null, exhausted bigint not null, canceled bigint not null,
  within_4 bigint not null, within_8 bigint not null, within_16 bigint not null, within_32 bigint not null,
  within_64 bigint not null, within_128 bigint not null, within_256 bigint not null, within_512 bigint not null,
  within_1024 bigint not null, within_2048 bigint not null, within_4096 bigint not null, beyond bigint not null,
  answered_2xx bigint not null, answered_3xx bigint not null, answered_4xx bigint not null, answered_5xx bigint not null,
  unanswered bigint not null`

const upkept = 'fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000'

export const statistics: Migration = {
  version: 8,
  expands: true,
  sql: `
-- What settlements leave to be counted: one row for each statement that settles, which no other transaction waits for. The
-- minute's work folds these rows into sums.
create table $schema.notes (
  id bigint generated always as identity primary key,
  noted text not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
-- Compressing a row that is there for a minute costs more than it saves.
alter table $schema.notes alter column noted set storage external;

-- Times are where a minute, an hour or a day (of UTC) begins, unix milliseconds.
create table $schema.minute_sums (
  workspace bigint not null,
  time bigint not null,
  endpoint_id text collate "C" not null,
  ${counts.trim()},
  primary key (workspace, time, endpoint_id)
) with (${upkept});
create table $schema.hour_sums (
  workspace bigint not null,
  time bigint not null,
  endpoint_id text collate "C" not null,
  event_type text collate "C" not null,
  ${counts.trim()},
  primary key (workspace, time, endpoint_id, event_type)
) with (${upkept});
create table $schema.day_sums (like $schema.hour_sums including all);

-- The event types that a workspace counts by name, with the hour in which each was counted last.
create table $schema.counted_types (
  workspace bigint not null,
  event_type text collate "C" not null,
  counted_at bigint not null,
  primary key (workspace, event_type)
);

-- What became of the tries of an endpoint. Failures are counted since the last success.
create table $schema.streaks (
  workspace bigint not null,
  endpoint_id text collate "C" not null,
  succeeded_at bigint,
  failed_at bigint,
  attempt_id text collate "C",
  failures bigint not null,
  exhausted bigint not null,
  primary key (workspace, endpoint_id)
) with (${upkept});

-- Why operational events are to be published.
create table $schema.causes (
  kind text collate "C" not null,
  id text collate "C" not null,
  workspace_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  attempt_id text collate "C",
  at bigint not null,
  reason text,
  primary key (kind, id)
);

create table $schema.processes (
  id text collate "C" primary key,
  version text not null,
  runtime text not null,
  started_at bigint not null,
  seen_at bigint not null,
  in_flight bigint not null,
  sent bigint not null
) with (fillfactor = 50);
`,
}
