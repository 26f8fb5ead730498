import type { Migration } from './migration.ts'

export const deliveryIndexes: Migration = {
  version: 10,
  expands: true,
  indexes: [
    { name: 'attempts_astray', on: 'attempts (workspace) where astray' },
    { name: 'attempts_first', unique: true, on: 'attempts (event_id, endpoint_id) where first' },
    { name: 'events_type', on: 'events (workspace, event_type, created_at)' },
  ],
  sql: '',
}
