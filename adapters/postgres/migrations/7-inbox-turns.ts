import type { Migration } from './migration.ts'

export const inboxTurns: Migration = {
  version: 7,
  expands: true,
  sql: `
-- Messages are taken in turns by workspace.
create index messages_turn on $schema.messages (workspace_id, received_at, id);
drop index $schema.messages_order;
`,
}
