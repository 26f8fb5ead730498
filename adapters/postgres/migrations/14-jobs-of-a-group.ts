import type { Migration } from './migration.ts'

export const jobsOfAGroup: Migration = {
  version: 14,
  expands: true,
  sql: `
-- How many jobs a group has changes within seconds, and from group to group by five orders of magnitude: what PostgreSQL saw of
-- it a minute ago misleads it, so that it reads and sorts all jobs of a group to find the first. Without statistics of the
-- column it expects some in each, and reads them in order. A change of the type, even to the same, forgets the statistics that
-- there are; neither the table nor an index is written for it.
alter table $schema.jobs alter column group_id type text collate "C", alter column group_id set statistics 0;
`,
}
