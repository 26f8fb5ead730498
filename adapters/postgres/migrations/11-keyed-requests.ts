import type { Migration } from './migration.ts'

export const keyedRequests: Migration = {
  version: 11,
  expands: true,
  sql: `
-- Requests with an Idempotency-Key. \`lease_until\` is null once the request is answered.
create table $schema.keyed_requests (
  workspace_id text collate "C" not null,
  key text collate "C" not null,
  hash text not null,
  token text not null,
  begun_at bigint not null,
  lease_until bigint,
  note text not null,
  primary key (workspace_id, key)
) with (fillfactor = 80);
create index keyed_requests_begun on $schema.keyed_requests (begun_at);
`,
}
