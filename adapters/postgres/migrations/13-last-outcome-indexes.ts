import type { Migration } from './migration.ts'

export const lastOutcomeIndexes: Migration = {
  version: 13,
  expands: true,
  fill: {
    table: 'outcomes',
    key: 'attempt_id',
    // What was written before the trigger.
    where: `r.status <> 'SUCCESSFUL' and r.stands is null`,
    set: `stands = case when r.status <> 'FAILED' or r.exhausted then r.status else 'RETRYING' end,
      event_at = e.created_at, event_id = e.id, endpoint_id = a.endpoint_id, event_type = e.event_type
      from $schema.attempts a join $schema.events e on e.id = a.event_id
      where a.id = r.attempt_id and a.trigger_mode <> 'TEST' and not exists (
        select from $schema.attempts l join $schema.outcomes o on o.attempt_id = l.id
        where l.event_id = a.event_id and l.endpoint_id = a.endpoint_id and l.id > a.id
      )`,
  },
  indexes: [
    {
      name: 'outcomes_stands',
      on: 'outcomes (workspace, stands, event_at, event_id, event_type, response_status) where stands is not null',
    },
    {
      name: 'outcomes_endpoint',
      on: 'outcomes (endpoint_id, stands, event_at, event_id, event_type, response_status) where stands is not null',
    },
    { name: 'attempts_made_by_hand', on: 'attempts (endpoint_id) where first' },
    { name: 'attempts_later', on: 'attempts (workspace, scheduled_at, id) where scheduled_at > created_at + 60000' },
    { name: 'open_attempts_first', on: 'open_attempts (workspace, id) where apart is null' },
    { name: 'open_attempts_apart', on: 'open_attempts (workspace, id) where apart' },
    { name: 'open_attempts_following', on: 'open_attempts (workspace, id) where not apart' },
    {
      name: 'outcomes_unsuccessful',
      on: `outcomes (workspace, status, attempt_id) where status <> 'SUCCESSFUL'`,
    },
  ],
  // Successes, which are most, are found beside the attempts.
  sql: `drop index if exists $schema.outcomes_status;`,
}
