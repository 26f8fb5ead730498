import type { KeyedRequest, KeyedRequests } from '../../src/contracts/storage/keyed-requests.ts'
import { sql } from '../sql/sql.ts'
import { number, type Row } from '../sql/values.ts'
import type { Database } from './database.ts'

export function postgresKeyedRequests({ run, t }: Database): KeyedRequests {
  /** Null where the key was used by another call since the statement began: it cannot see that row. */
  async function asked(request: KeyedRequest, before: number): Promise<KeyedRequest | null> {
    const { workspace_id, key, hash, token, begun_at, lease_until, note } = request
    const [row] = await run(sql`
      with taken as (
        insert into ${t.keyed_requests} as k (workspace_id, key, hash, token, begun_at, lease_until, note)
        values (${workspace_id}::text, ${key}::text, ${hash}::text, ${token}::text, ${begun_at}::bigint,
          ${lease_until}::bigint, ${note}::text)
        on conflict (workspace_id, key) do update
        set hash = excluded.hash, token = excluded.token, lease_until = excluded.lease_until,
          begun_at = case when k.begun_at < ${before}::bigint then excluded.begun_at else k.begun_at end,
          note = case when k.begun_at < ${before}::bigint then excluded.note else k.note end
        where k.begun_at < ${before}::bigint or (k.lease_until <= excluded.begun_at and k.hash = excluded.hash)
        returning *
      )
      select * from taken
      union all
      select * from ${t.keyed_requests}
      where workspace_id = ${workspace_id}::text and key = ${key}::text and not exists (select from taken)`)
    return row === undefined ? null : requestOf(row)
  }

  return {
    async take(request, before) {
      for (;;) {
        const standing = await asked(request, before)
        if (standing !== null) return standing
      }
    },

    async update({ workspace_id, key, token, lease_until, note }) {
      await run(sql`
        update ${t.keyed_requests} set lease_until = ${lease_until}::bigint, note = ${note}::text
        where workspace_id = ${workspace_id}::text and key = ${key}::text and token = ${token}::text`)
    },

    async release({ workspace_id, key, token }) {
      await run(sql`
        delete from ${t.keyed_requests}
        where workspace_id = ${workspace_id}::text and key = ${key}::text and token = ${token}::text`)
    },

    async forget(before, limit) {
      const rows = await run(sql`
        delete from ${t.keyed_requests} where (workspace_id, key) in (
          select workspace_id, key from ${t.keyed_requests} where begun_at < ${before}::bigint
          order by begun_at limit ${limit}::int for update skip locked
        ) returning 1 as gone`)
      return rows.length
    },
  }
}

function requestOf(row: Row): KeyedRequest {
  return {
    workspace_id: row['workspace_id'] as string,
    key: row['key'] as string,
    hash: row['hash'] as string,
    token: row['token'] as string,
    begun_at: number(row['begun_at']),
    lease_until: row['lease_until'] === null ? null : number(row['lease_until']),
    note: row['note'] as string,
  }
}
