export { postgres, type PostgresOptions } from './storage.ts'
export { migrate, type MigrateOptions, migrationSql } from './migrate.ts'
export { openPostgres, type OpenedPostgres, type OpenPostgresOptions } from './open.ts'
export { latestSchemaVersion, schemaVersion } from './verify.ts'
export type {
  PgClient,
  Pglite,
  PgListener,
  PgPool,
  PostgresClient,
  PostgresHandle,
  PostgresJs,
  QueryOptions,
} from './clients.ts'
export type { Value } from '../sql/sql.ts'
