import type { Contender } from '../compare.ts'
import {
  checkCount,
  concurrency,
  gather,
  laps,
  type Outcome,
  openTables,
  type OwnEvent,
  sender,
  warmUp,
} from './tools.ts'

const tables = `
  create table own.open_attempts (
    id bigint generated always as identity primary key, event_id uuid not null, attempt_number int not null default 1,
    status text not null default 'QUEUED', attempted_at timestamptz, code int, latency_ms real, error text,
    request_headers text, response_headers text, response_body text
  ) with (fillfactor = 60);
  create index on own.open_attempts (event_id);
  create unlogged table own.jobs (
    id bigint primary key, event_id uuid not null, due_at timestamptz not null default now(), leased_until timestamptz
  );
  create index on own.jobs (due_at) where leased_until is null;`

const publishText = `
  with e as (select * from jsonb_to_recordset($1::text::jsonb) e (id uuid, type text, data jsonb)),
  stored as (insert into own.events (id, type, data) select id, type, data from e),
  opened as (insert into own.open_attempts (event_id) select id from e returning id, event_id)
  insert into own.jobs (id, event_id) select id, event_id from opened`

const claimText = `
  with due as (
    select id from own.jobs where leased_until is null and due_at <= now() order by due_at limit $1 for update skip locked
  ), leased as (
    update own.jobs j set leased_until = now() + interval '60 s' from due where j.id = due.id returning j.id, j.event_id
  )
  select l.id::text as job, e.id, e.type, e.data::text as text from leased l join own.events e on e.id = l.event_id`

const settleText = `
  with o as (
    select * from jsonb_to_recordset($1::text::jsonb) o (job bigint, status text, code int, latency_ms real, error text,
      request_headers jsonb, response_headers jsonb, response_body text)
  ), settled as (
    update own.open_attempts a set status = o.status, attempted_at = now(), code = o.code, latency_ms = o.latency_ms,
      error = o.error, request_headers = o.request_headers, response_headers = o.response_headers,
      response_body = o.response_body
    from o where a.id = o.job
  )
  delete from own.jobs using o where jobs.id = o.job`

interface Leased {
  readonly job: string
  readonly id: string
  readonly type: string
  readonly text: string
}

/**
 * A page of code, no product: what batches reach on PostgreSQL. Three statements, each for many: publish, claim with the
 * event, settle. No retries, no fan-out, no limits, no address checks; the job table is unlogged.
 */
export const sketch: Contender = async ({ postgres, url, events, data }) => {
  const pool = await openTables(postgres, 6)
  await pool.query(tables)
  const http = sender(url)
  const lap = laps(JSON.parse(data))
  const settle = gather<Outcome & { job: string }>(async (batch) => {
    await pool.query({ name: 'settle', text: settleText, values: [JSON.stringify(batch)] })
  })
  let free = concurrency
  let waiting = 0
  let isClaiming = false

  async function deliver({ job, id, type, text }: Leased): Promise<void> {
    const outcome = await http.send({ id, type, data: {} }, text)
    free++
    void claim()
    await settle({ job, ...outcome })
    lap.delivered()
  }

  /** One claim at a time, while jobs wait and a sixteenth of the slots is free. */
  async function claim(): Promise<void> {
    if (isClaiming) return
    isClaiming = true
    while (waiting > 0 && free >= concurrency / 16) {
      const { rows } = await pool.query<Leased>({ name: 'claim', text: claimText, values: [free] })
      waiting -= rows.length
      free -= rows.length
      for (const row of rows) void deliver(row)
    }
    isClaiming = false
  }

  async function publish(batch: readonly OwnEvent[]): Promise<void> {
    await pool.query({ name: 'publish', text: publishText, values: [JSON.stringify(batch)] })
    waiting += batch.length
    void claim()
  }
  await lap.run(warmUp, publish)

  return {
    work: () => lap.run(events, publish),
    async check() {
      const { rows } = await pool.query<{ n: number }>(
        `select count(*)::int as n from own.open_attempts a join own.events e on e.id = a.event_id
         where a.status = 'SUCCESSFUL' and a.code = 200 and a.response_body <> ''
           and a.response_headers like '%"date"%' and a.request_headers like '%webhook-signature%'`,
      )
      checkCount(rows[0]!.n, warmUp + events)
    },
    async close() {
      await http.close()
      await pool.end()
    },
  }
}
