import type { Migration } from './migration.ts'

export const openJobIndexes: Migration = {
  version: 16,
  expands: true,
  indexes: [
    { name: 'jobs_first', on: 'jobs (workspace, id) where workspace is not null and apart is null' },
    { name: 'jobs_apart', on: 'jobs (workspace, id) where workspace is not null and apart' },
    { name: 'jobs_following', on: 'jobs (workspace, id) where workspace is not null and not apart' },
  ],
  sql: `
-- Open attempts, wherever they stand. Rows whose workspace is null are jobs alone: a condition here would keep PostgreSQL from
-- reading the jobs by index. The due time is that of \`dueAt\` in waiting.ts.
create or replace view $schema.open_anywhere as
  select id, workspace, endpoint_id, scheduled_at, apart from $schema.open_attempts
  union all
  select id, workspace, group_id, due_at & 2251799813685247, apart from $schema.jobs;
`,
}
