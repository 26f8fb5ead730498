import type { Migration } from './migration.ts'

export const oneRow: Migration = {
  version: 17,
  // A process of before step 15 would take a job that is an open attempt for one whose attempt has ended. Those of before step
  // 8 cannot be seen, so five minutes pass in any case, but in a schema that is made just now.
  waitsUntil: `(select applied_at = now() from $schema.migrations where version = 1)
    or (select applied_at < now() - interval '5 minutes' from $schema.expansions where version = 16)
      and not exists (
        select from $schema.processes
        where schema_version is null and seen_at > extract(epoch from now()) * 1000 - 300000
      )`,
  sql: `
-- From here on open attempts stand in the rows of their jobs. A process of before that is still there, or wakes up, cannot
-- claim such a row: its tokens have no slash.
alter table $schema.jobs drop constraint if exists jobs_one_row, add constraint jobs_one_row
  check (workspace is null or token is null or strpos(token, '/') > 0) not valid;
`,
}
