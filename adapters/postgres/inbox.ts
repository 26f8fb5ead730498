import type { Inbox, NewMessage, PutAnswer, Taken, TakeOptions } from '../../src/contracts/inbox.ts'
import { LostLeases } from '../../src/core/lost-leases.ts'
import { json, number, type Row } from '../sql/values.ts'
import type { Database } from './database.ts'
import { isRefusal } from './errors.ts'
import { storable } from '../sql/rows.ts'
import { type Sql, sql } from '../sql/sql.ts'
import type { Listener } from './listener.ts'
import type { Notify } from './notify.ts'

/** No index finds messages by their holder, so these are looked for seldom. */
const giveBackEveryMs = 5_000

/** The inbox in a schema. A held message keeps its place in the order, so a take passes over held messages. */
export function postgresInbox(db: Database, notify: Notify, listener: Listener | null): Inbox {
  const { run, t } = db
  const lockedMessages = (taken: readonly Taken[]): Sql => sql`
    select m.* from ${t.messages} m
    join jsonb_to_recordset(${json(taken.map(({ id, token }) => ({ id, token })))}::text::jsonb)
      as h (id text collate "C", token text) on h.id = m.id and h.token = m.token
    order by m.id for update of m`
  /** The workspace that the last take ended with. */
  let last = ''
  const lost = new LostLeases(giveBackEveryMs)
  /**
   * The parts of a recursive query that steps through workspaces by the index, however many messages each has: in the
   * order of their ids, beginning after `from`, until `limit` workspaces with a message to take are found. Those of
   * `leaveOut` have none.
   */
  const workspaces = (from: string, { limit, now, leaveOut }: TakeOptions): Sql => sql`
    select ${from}::text collate "C" as name, 1 as lap, 0 as step, 0 as found, 0 as has_due
    union all
    select n.name, n.lap, w.step + 1, w.found + n.has_due, n.has_due
    from walk w
    cross join lateral (
      select c.name, c.lap, coalesce((
        select 1 from ${t.messages} m
        where m.workspace_id = c.name and m.held_until <= ${now}::bigint and c.name <> all(${[...(leaveOut ?? [])]}::text[])
        order by m.received_at, m.id limit 1
      ), 0) as has_due
      from (
        (
          select m.workspace_id as name, w.lap from ${t.messages} m
          where m.workspace_id > w.name and (w.lap = 1 or m.workspace_id <= ${from}::text) order by m.workspace_id limit 1
        )
        union all
        (
          select m.workspace_id, 2 from ${t.messages} m
          where w.lap = 1 and m.workspace_id <= ${from}::text order by m.workspace_id limit 1
        )
      ) c order by c.lap limit 1
    ) n
    where w.found < ${limit}::int`
  /** Answers the tokens with which messages are held, by their ids: those of other callers are left out. */
  const insert = async (messages: readonly NewMessage[]): Promise<ReadonlyMap<unknown, unknown>> => {
    const given = messages.map(({ workspaceId, lease, ...row }) => {
      return { ...row, workspace_id: workspaceId, token: lease?.token ?? null, held_until: lease?.until ?? 0 }
    })
    const held = await run(sql`
      with given as materialized (
        select * from jsonb_to_recordset(${json(given)}::text::jsonb) as m (
          id text collate "C", workspace_id text, event_type text, data text, unique_id text, trace text, received_at bigint,
          token text, held_until bigint
        )
      ),
      added as (
        insert into ${t.messages} (id, workspace_id, event_type, data, unique_id, trace, received_at, token, held_until, tries)
        select *, (token is not null)::int from given g
        where not exists (select from ${t.dead_messages} d where d.id = g.id)
        order by id
        on conflict do nothing
        returning id, token
      )
      select id, token from added
      union all
      select id, token from given g where token = (select m.token from ${t.messages} m where m.id = g.id)`)
    return new Map(held.map(({ id, token }) => [id, token]))
  }
  /** Where the engine refuses a batch, it is halved until the message at fault stands alone. */
  const store = async (messages: readonly NewMessage[]): Promise<readonly PutAnswer[]> => {
    try {
      const held = await insert(messages)
      return messages.map(({ id, lease }) => {
        return { kind: 'stored', ...(lease !== undefined && held.get(id) === lease.token && { held: true }) }
      })
    } catch (cause) {
      if (db.bound || !isRefusal(cause)) throw cause
      if (messages.length === 1) return [{ kind: 'rejected', cause }]
      const half = messages.length >> 1
      return [...(await store(messages.slice(0, half))), ...(await store(messages.slice(half)))]
    }
  }
  return {
    async put(messages) {
      if (messages.length === 0) return []
      const answers = await store(messages)
      if (messages.some(({ lease }) => lease === undefined)) await notify('messages')
      return answers
    },

    async take(options) {
      const { limit, maxBytes, leaseMs, now } = options
      for (const { token, until } of lost.due(now)) {
        await run(sql`
          update ${t.messages} set held_until = 0, tries = tries - 1
          where held_until = ${until}::bigint and token = ${token}::text`)
      }
      const token = crypto.randomUUID()
      const rows = await run(sql`
        with recursive walk as (
          ${workspaces(last, options)}
        ),
        lines as materialized (select name, step from walk where has_due = 1),
        due as (
          select l.name, l.step, d.* from lines l
          cross join lateral (
            select w.id, w.bytes, row_number() over (order by w.received_at, w.id) as level from (
              -- The size of a long text is known without reading it.
              select m.id, m.received_at, octet_length(m.data) as bytes from ${t.messages} m
              where m.workspace_id = l.name and m.held_until <= ${now}::bigint order by m.received_at, m.id
              limit (select least(${limit}::int, ceil(4.0 * ${limit}::int / count(*))) from lines) for update skip locked
            ) w
          ) d
        ),
        picked as (
          select id, sum(bytes) over turns as through, row_number() over turns as place
          from due window turns as (order by level, step)
        ),
        chosen as materialized (
          select id, place from picked where place <= ${limit}::int and (through <= ${maxBytes}::bigint or place = 1)
        ),
        taken as (
          update ${t.messages} m
          set held_until = ${now + leaseMs}::bigint, token = ${token}::text, tries = m.tries + 1
          where m.id = any(array(select id from chosen))
          returning m.*
        )
        select t.* from taken t join chosen c on c.id = t.id order by c.place`).catch((cause: unknown) => {
        lost.add({ token, until: now + leaseMs })
        throw cause
      })
      const taken = rows.map(takenOf)
      last = taken.at(-1)?.workspaceId ?? last
      return taken
    },

    async done(taken) {
      if (taken.length === 0) return
      await run(sql`
        with locked as (${lockedMessages(taken)})
        delete from ${t.messages} m using locked where m.id = locked.id`)
    },

    async release(taken) {
      if (taken.length === 0) return
      await run(sql`
        with locked as (${lockedMessages(taken)})
        update ${t.messages} m set held_until = 0, token = null, tries = m.tries - 1 from locked where m.id = locked.id`)
      await notify('messages')
    },

    async bury(taken, reason) {
      if (taken.length === 0) return
      await run(sql`
        with locked as materialized (${lockedMessages(taken)}),
        gone as (delete from ${t.messages} m using locked where m.id = locked.id)
        insert into ${t.dead_messages} (id, workspace_id, event_type, data, unique_id, received_at, tries, reason)
        select id, workspace_id, event_type, data, unique_id, received_at, tries, ${storable(reason)}::text from locked
        on conflict do nothing`)
    },

    async size() {
      const [row] = await run(sql`select count(*) as size from ${t.messages}`)
      return number(row!['size']) // an aggregate is one row
    },

    ...(listener && { onPut: (wake) => listener.on((news) => news === 'messages' && wake()) }),
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
