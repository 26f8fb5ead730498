import type { Migration } from './migration.ts'

export const probes: Migration = {
  version: 2,
  sql: `
-- Where it is tried whether writes are taken. No row is ever committed; one a page is tried.
create table $schema.probes (
  filling text not null
) with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10);
`,
}
