import type { Migration } from './migration.ts'

export const openJobs: Migration = {
  version: 15,
  expands: true,
  sql: `
-- A job may be the open attempt as well: then workspace is set, and apart says what it says in open_attempts. Nobody writes
-- such rows before step 18.
alter table $schema.jobs add column if not exists workspace bigint, add column if not exists apart boolean;

-- The step of the schema that the process knows of. Processes of before step 15 write none.
alter table $schema.processes add column if not exists schema_version integer;
`,
}
