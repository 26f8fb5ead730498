import type { Inbox, Message, Taken } from '../../src/contracts/inbox.ts'
import type { Row } from './clients.ts'
import { type Database, json, number } from './database.ts'
import { storable } from './rows.ts'
import { type Sql, sql } from './sql.ts'
import type { Ear } from './ear.ts'
import type { Announce } from './wake.ts'

/** The inbox in a schema. A held message keeps its place in the order, so a take passes over those that are held. */
export function postgresInbox(db: Database, announce: Announce, ear: Ear | null): Inbox {
  const { run, t } = db
  const mine = (taken: readonly Taken[]): Sql => sql`
    select m.* from ${t.messages} m
    join jsonb_to_recordset(${json(taken.map(({ id, token }) => ({ id, token })))}::text::jsonb)
      as h (id text collate "C", token text) on h.id = m.id and h.token = m.token
    order by m.id for update of m`
  return {
    async put(messages) {
      if (messages.length === 0) return
      const rows: readonly Message[] = messages
      await run(sql`
        insert into ${t.messages} (id, workspace_id, event_type, data, unique_id, trace, received_at)
        select id, workspace_id, event_type, data, unique_id, trace, received_at
        from jsonb_to_recordset(${json(rows.map(({ workspaceId, ...row }) => ({ ...row, workspace_id: workspaceId })))}::text::jsonb)
          as m (id text collate "C", workspace_id text, event_type text, data text, unique_id text, trace text, received_at bigint)
        where not exists (select from ${t.dead_messages} d where d.id = m.id)
        order by id
        on conflict do nothing`)
      await announce('messages')
    },

    async take({ limit, maxBytes, leaseMs, now }) {
      // The size of a long text is known without reading it.
      const rows = await run(sql`
        with due as (
          select id, received_at, octet_length(data) as bytes from ${t.messages} where held_until <= ${now}::bigint
          order by received_at, id limit ${limit}::int for update skip locked
        ),
        summed as (select id, bytes, sum(bytes) over (order by received_at, id) as through from due),
        taken as (
          update ${t.messages} m
          set held_until = ${now + leaseMs}::bigint, token = (select gen_random_uuid()::text), tries = m.tries + 1
          from summed s where m.id = s.id and (s.through <= ${maxBytes}::bigint or s.through = s.bytes)
          returning m.*
        )
        select * from taken order by received_at, id`)
      return rows.map(takenOf)
    },

    async done(taken) {
      if (taken.length === 0) return
      await run(sql`
        with mine as (${mine(taken)})
        delete from ${t.messages} m using mine where m.id = mine.id`)
    },

    async bury(taken, reason) {
      if (taken.length === 0) return
      await run(sql`
        with mine as materialized (${mine(taken)}),
        gone as (delete from ${t.messages} m using mine where m.id = mine.id)
        insert into ${t.dead_messages} (id, workspace_id, event_type, data, unique_id, received_at, tries, reason)
        select id, workspace_id, event_type, data, unique_id, received_at, tries, ${storable(reason)}::text from mine
        on conflict do nothing`)
    },

    async size() {
      const [row] = await run(sql`select count(*) as size from ${t.messages}`)
      return number(row!['size']) // an aggregate is one row
    },

    ...(ear && { onPut: (wake) => ear.on((news) => news === 'messages' && wake()) }),
  }
}

function takenOf(row: Row): Taken {
  return {
    id: row['id'] as string,
    workspaceId: row['workspace_id'] as string,
    event_type: row['event_type'] as string,
    data: row['data'] as string,
    unique_id: row['unique_id'] as string | null,
    received_at: number(row['received_at']),
    ...(typeof row['trace'] === 'string' && { trace: row['trace'] }),
    token: row['token'] as string,
    tries: number(row['tries']),
  }
}
