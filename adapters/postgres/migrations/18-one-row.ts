import type { Migration } from './migration.ts'

export const oneRow: Migration = {
  version: 18,
  // A process of before step 15 would take a job that is an open attempt for one whose attempt has ended. Those of before step
  // 8 cannot be seen, so five minutes pass in any case, but in a schema that is made just now.
  waitsUntil: `(select applied_at = now() from $schema.migrations where version = 1)
    or (select applied_at < now() - interval '5 minutes' from $schema.expansions where version = 16)
      and not exists (
        select from $schema.processes
        where schema_version is null and seen_at > extract(epoch from now()) * 1000 - 300000
      )`,
  // In place of `attempts_event` (event_id, id): an event may have 10,000 attempts, one to each endpoint.
  indexes: [{ name: 'attempts_delivery', on: 'attempts (event_id, endpoint_id, id)' }],
  sql: `
drop index if exists $schema.attempts_event;

-- From here on open attempts stand in the rows of their jobs. A process of before that is still there, or wakes up, cannot
-- claim such a row: its tokens have no slash.
alter table $schema.jobs drop constraint if exists jobs_one_row, add constraint jobs_one_row
  check (workspace is null or token is null or strpos(token, '/') > 0) not valid;
`,
}
