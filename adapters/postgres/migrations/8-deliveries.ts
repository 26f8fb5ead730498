import type { Migration } from './migration.ts'

export const deliveries: Migration = {
  version: 8,
  expands: true,
  sql: `
-- \`astray\`: the id tells nothing of the time (core/id-bounds.ts). \`first\`: made by hand where the event and the endpoint had
-- no attempt. There is one of these for an event and an endpoint, however many ask for it at once.
alter table $schema.attempts add column if not exists astray boolean, add column if not exists first boolean;
create index if not exists attempts_astray on $schema.attempts (workspace) where astray;
create unique index if not exists attempts_first on $schema.attempts (event_id, endpoint_id) where first;
create index if not exists events_type on $schema.events (workspace, event_type, created_at);
`,
}
