import type { Migration } from './migration.ts'

export const tables: Migration = {
  version: 1,
  sql: `
-- What revisions are counted by. No number comes twice, so a workspace made anew never repeats one.
create sequence $schema.revision_numbers;

-- Configuration. \`document\` is the row as JSON text, in the order of keys it was given; columns beside it serve
-- constraints and filters. \`revision\` of a workspace changes with every write to it and to what is in it; a row
-- remembers the one it was written at. Events and attempts point at \`key\`, so that a workspace made anew under an old id does not
-- see what is left of the old one.
create table $schema.workspaces (
  key bigint generated always as identity primary key,
  id text collate "C" not null unique,
  name text,
  metadata jsonb not null,
  created_at bigint not null,
  document text not null,
  revision bigint not null,
  written bigint not null
) with (fillfactor = 70);

-- Ids and names of workspaces are one namespace.
create table $schema.handles (
  handle text collate "C" primary key,
  workspace bigint not null references $schema.workspaces on delete cascade
);
create index handles_workspace on $schema.handles (workspace);

-- Workspaces that were deleted and whose events are yet to be purged; the transaction that did it.
create table $schema.graves (
  workspace bigint primary key,
  dug_by xid8 not null
);

create table $schema.endpoints (
  id text collate "C" primary key,
  workspace bigint not null references $schema.workspaces on delete cascade,
  name text collate "C",
  enabled boolean not null,
  url text not null,
  metadata jsonb not null,
  created_at bigint not null,
  updated_at bigint not null,
  document text not null,
  revision bigint not null,
  unique (workspace, id),
  unique (workspace, name) deferrable
);

create table $schema.sources (
  id text collate "C" primary key,
  workspace bigint not null references $schema.workspaces on delete cascade,
  name text collate "C",
  enabled boolean not null,
  metadata jsonb not null,
  created_at bigint not null,
  updated_at bigint not null,
  document text not null,
  revision bigint not null,
  unique (workspace, id),
  unique (workspace, name) deferrable
);

create table $schema.plugins (
  id text collate "C" primary key,
  workspace bigint not null references $schema.workspaces on delete cascade,
  name text collate "C" not null,
  enabled boolean not null,
  endpoint_id text collate "C",
  source_id text collate "C",
  metadata jsonb not null,
  created_at bigint not null,
  updated_at bigint not null,
  document text not null,
  revision bigint not null,
  unique (workspace, id),
  unique (endpoint_id, name) deferrable,
  unique (source_id, name) deferrable,
  foreign key (workspace, endpoint_id) references $schema.endpoints (workspace, id) on delete cascade,
  foreign key (workspace, source_id) references $schema.sources (workspace, id) on delete cascade
);

-- Paths and methods of enabled sources. A path may be longer than an index takes, so its hash stands for it.
create table $schema.routes (
  path bytea not null,
  method text not null,
  source_id text collate "C" not null references $schema.sources on delete cascade,
  primary key (path, method)
);
create index routes_source on $schema.routes (source_id);

create table $schema.revisions (
  name text primary key,
  revision bigint not null
);
insert into $schema.revisions (name, revision) values ('routes', 0);

-- Events and attempts are only ever inserted and purged, so their pages stay full and need little vacuuming. What
-- becomes of an attempt stands beside it: it is in open_attempts until it is in outcomes.
create table $schema.events (
  id text collate "C" primary key,
  workspace bigint not null,
  event_type text not null,
  unique_id text,
  data text not null,
  trace text,
  ingested_at bigint not null,
  created_at bigint not null,
  updated_at bigint not null
);
create index events_page on $schema.events (workspace, id);
create index events_created on $schema.events (workspace, created_at);

create table $schema.unique_ids (
  workspace bigint not null,
  unique_id text collate "C" not null,
  event_id text collate "C" not null,
  primary key (workspace, unique_id)
);

create table $schema.attempts (
  id text collate "C" primary key,
  workspace bigint not null,
  event_id text collate "C" not null references $schema.events,
  endpoint_id text collate "C" not null,
  attempt_number integer not null,
  trigger_mode text not null,
  scheduled_at bigint not null,
  created_at bigint not null
);
create index attempts_page on $schema.attempts (workspace, id);
create index attempts_created on $schema.attempts (workspace, created_at);
create index attempts_event on $schema.attempts (event_id, id);
create index attempts_endpoint on $schema.attempts (endpoint_id, id);

create table $schema.open_attempts (
  id text collate "C" primary key,
  workspace bigint not null,
  endpoint_id text collate "C" not null,
  scheduled_at bigint not null
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);
create index open_attempts_due on $schema.open_attempts (scheduled_at, id);

create table $schema.outcomes (
  attempt_id text collate "C" primary key,
  workspace bigint not null,
  status text not null,
  exhausted boolean not null,
  attempted_at bigint,
  settled_at bigint not null,
  error_code text,
  error_message text,
  request_method text,
  request_url text,
  request_headers text,
  request_body text,
  request_from_event boolean,
  response_status integer,
  response_latency double precision,
  response_headers text,
  response_body text
);
create index outcomes_status on $schema.outcomes (workspace, status, attempt_id);

create table $schema.tallies (
  workspace bigint not null,
  endpoint_id text collate "C" not null,
  minute bigint not null,
  total bigint not null,
  failed bigint not null,
  primary key (minute, workspace, endpoint_id)
) with (fillfactor = 50);

-- The queue. \`next_at\` of a group is never later than the due time of its oldest waiting job: adding jobs only writes a
-- hint, which no other transaction waits for, and a claim works hints into groups. See queue.ts.
create table $schema.jobs (
  id text collate "C" primary key,
  group_id text collate "C" not null,
  due_at bigint not null,
  held_until bigint not null default 0,
  token text
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);
create index jobs_due on $schema.jobs (group_id, due_at, id);
create index jobs_held on $schema.jobs (held_until) where held_until > 0;

create table $schema.groups (
  id text collate "C" primary key,
  next_at bigint,
  paused_until bigint not null default 0,
  version bigint not null default 0
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
create index groups_next on $schema.groups (next_at) where next_at is not null;

create table $schema.hints (
  group_id text collate "C" not null,
  due_at bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- The inbox.
create table $schema.messages (
  id text collate "C" primary key,
  workspace_id text collate "C" not null,
  event_type text not null,
  data text not null,
  unique_id text,
  trace text,
  received_at bigint not null,
  held_until bigint not null default 0,
  token text,
  tries integer not null default 0
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
create index messages_order on $schema.messages (received_at, id);

create table $schema.dead_messages (
  id text collate "C" primary key,
  workspace_id text collate "C" not null,
  event_type text not null,
  data text not null,
  unique_id text,
  received_at bigint not null,
  tries integer not null,
  reason text not null,
  buried_at timestamptz not null default now()
);

-- Rate limits: after a crash of the server every burst is whole again.
create unlogged table $schema.limits (
  key text collate "C" primary key,
  tat double precision not null
) with (fillfactor = 50);

create table $schema.turns (
  name text primary key,
  period bigint not null
);
`,
}
