import type { Migration } from './migration.ts'

export const revisited: Migration = {
  version: 3,
  sql: `
-- An attempt is stored with its event, or follows one that is open, or is asked for by hand; only then may a purge want
-- the event at the same moment. So only that is checked by a foreign key: on every attempt it cost as much as its indexes.
alter table $schema.attempts drop constraint attempts_event_id_fkey;

-- Events that attempts were added to by hand.
create table $schema.revisited (
  event_id text collate "C" primary key references $schema.events
);
`,
}
