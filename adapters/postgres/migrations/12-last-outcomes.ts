import type { Migration } from './migration.ts'

export const lastOutcomes: Migration = {
  version: 12,
  expands: true,
  sql: `
-- What a delivery that did not succeed is found by, in the order of events. \`stands\` is FAILED, RETRYING or CANCELED, by the last
-- outcome of an event and an endpoint, and null for outcomes before the last, for successes and for test deliveries. Versions
-- before write outcomes too, so a trigger fills the columns.
alter table $schema.outcomes add column if not exists stands text, add column if not exists event_at bigint,
  add column if not exists event_id text collate "C", add column if not exists endpoint_id text collate "C",
  add column if not exists event_type text;
-- Null: made with its event. False: follows a try that failed. True: made by hand, or by a version that does not say.
alter table $schema.open_attempts add column if not exists apart boolean default true;
create or replace function $schema.outcome_stands() returns trigger language plpgsql as $body$
begin
  select e.created_at, e.id, a.endpoint_id, e.event_type,
    case when new.status <> 'FAILED' or new.exhausted then new.status else 'RETRYING' end
  into new.event_at, new.event_id, new.endpoint_id, new.event_type, new.stands
  from $schema.attempts a join $schema.events e on e.id = a.event_id
  where a.id = new.attempt_id and a.trigger_mode <> 'TEST';
  return new;
end
$body$;
drop trigger if exists outcome_stands on $schema.outcomes;
create trigger outcome_stands before insert on $schema.outcomes
for each row when (new.status <> 'SUCCESSFUL') execute function $schema.outcome_stands();
`,
}
