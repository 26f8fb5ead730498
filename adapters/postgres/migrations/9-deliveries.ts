import type { Migration } from './migration.ts'

export const deliveries: Migration = {
  version: 9,
  expands: true,
  sql: `
-- \`astray\`: the id tells nothing of the time (core/id-bounds.ts). \`first\`: made by hand where the event and the endpoint had
-- no attempt. There is one of these for an event and an endpoint, however many ask for it at once.
alter table $schema.attempts add column if not exists astray boolean, add column if not exists first boolean;
`,
}
