import type { Processes } from '../../src/contracts/storage/processes.ts'
import { number } from '../sql/values.ts'
import { type Database } from './database.ts'
import { latestSchemaVersion } from './verify.ts'
import { sql } from '../sql/sql.ts'

export function postgresProcesses({ run, t }: Database): Processes {
  return {
    async seen({ id, version, runtime, started_at, seen_at, in_flight, sent }, before) {
      await run(sql`
        with gone as (
          delete from ${t.processes} where id = any(array(
            select id from ${t.processes} where seen_at < ${before}::bigint and id <> ${id}::text
            order by id for update skip locked
          ))
        )
        insert into ${t.processes} (id, version, runtime, started_at, seen_at, in_flight, sent, schema_version)
        values (${id}::text, ${version}::text, ${runtime}::text, ${started_at}::bigint, ${seen_at}::bigint,
          ${in_flight}::bigint, ${sent}::bigint, ${latestSchemaVersion}::int)
        on conflict (id) do update
        set seen_at = excluded.seen_at, in_flight = excluded.in_flight, sent = excluded.sent,
          schema_version = excluded.schema_version`)
    },

    async list(since) {
      const rows = await run(sql`select * from ${t.processes} where seen_at >= ${since}::bigint order by id limit 1000`)
      return rows.map((row) => ({
        id: row['id'] as string,
        version: row['version'] as string,
        runtime: row['runtime'] as string,
        started_at: number(row['started_at']),
        seen_at: number(row['seen_at']),
        in_flight: number(row['in_flight']),
        sent: number(row['sent']),
      }))
    },
  }
}
