import { createHmac, createSecretKey, randomUUID } from 'node:crypto'

import pg from 'pg'
import { Agent } from 'undici'

import { sideBySide } from '../compare.ts'

// What the peers have in common: the tables, the signed request, the rows that tell how it ended, and batches wherever a
// careful user would have them. All of them, Posthorn included, are handed events in calls of 500, four under way at once.

export interface OwnEvent {
  readonly id: string
  readonly type: string
  readonly data: object
}

export interface Outcome {
  readonly event_id: string
  readonly status: 'SUCCESSFUL' | 'FAILED'
  readonly code: number | null
  readonly latency_ms: number
  readonly error: string | null
  readonly request_headers: Readonly<Record<string, string>>
  /** Where no row of the event stays. Else it is the event's data. */
  readonly request_body?: string
  readonly response_headers: Readonly<Record<string, unknown>> | null
  readonly response_body: string | null
}

export const concurrency = 256
const timeoutMs = 10_000
const eventsInCall = 500
const callsAtOnce = 4
const secret = createSecretKey(Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'utf8'))

/** Makes a schema with the two tables, empty. */
export async function openTables(url: string, max: number): Promise<pg.Pool> {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  await pool.query(`
    drop schema if exists own cascade;
    create schema own;
    create table own.events (
      id uuid primary key, type text not null, data jsonb not null, created_at timestamptz not null default now()
    );
    create table own.attempts (
      id bigint generated always as identity primary key, event_id uuid not null, status text not null, code int,
      latency_ms real not null, error text, request_headers jsonb not null, request_body text, response_headers jsonb,
      response_body text, attempted_at timestamptz not null default now()
    );
    create index on own.attempts (event_id);`)
  return pool
}

export async function storeEvents(pool: pg.Pool, events: readonly OwnEvent[]): Promise<void> {
  await pool.query({
    name: 'events',
    text: `insert into own.events (id, type, data)
      select id, type, data from jsonb_to_recordset($1::text::jsonb) e (id uuid, type text, data jsonb)`,
    values: [JSON.stringify(events)],
  })
}

/** Stores outcomes, those that come together in one statement. */
export function outcomes(pool: pg.Pool): (outcome: Outcome) => Promise<void> {
  return gather(async (batch) => {
    await pool.query({
      name: 'outcomes',
      text: `insert into own.attempts
        (event_id, status, code, latency_ms, error, request_headers, request_body, response_headers, response_body)
        select * from jsonb_to_recordset($1::text::jsonb) a (event_id uuid, status text, code int, latency_ms real,
          error text, request_headers jsonb, request_body text, response_headers jsonb, response_body text)`,
      values: [JSON.stringify(batch)],
    })
  })
}

/** Calls gather while two flushes are under way, and go together in the next one, at most 500. */
export function gather<Item>(flush: (batch: readonly Item[]) => Promise<void>): (item: Item) => Promise<void> {
  const waiting: { item: Item; done: () => void; failed: (cause: unknown) => void }[] = []
  let running = 0
  let isScheduled = false
  const run = async (batch: typeof waiting): Promise<void> => {
    running++
    try {
      await flush(batch.map(({ item }) => item))
      for (const { done } of batch) done()
    } catch (cause) {
      for (const { failed } of batch) failed(cause)
    }
    running--
    pump()
  }
  const pump = (): void => {
    isScheduled = false
    while (running < 2 && waiting.length > 0) void run(waiting.splice(0, 500))
  }
  return (item) =>
    new Promise((done, failed) => {
      waiting.push({ item, done, failed })
      if (isScheduled || running >= 2) return
      isScheduled = true
      setImmediate(pump)
    })
}

export function agent(): Agent {
  return new Agent({ connections: concurrency, pipelining: 1, headersTimeout: timeoutMs, bodyTimeout: timeoutMs })
}

export interface Sender {
  /** Sends an event once, `text` where its data is at hand as it was stored. Never throws. */
  send(event: OwnEvent, text?: string): Promise<Outcome>
  close(): Promise<void>
}

/** Sends signed requests as Standard Webhooks says, over connections that are kept, with undici's documented `request`. */
export function sender(url: string): Sender {
  const dispatcher = agent()
  const { origin, pathname: path } = new URL(url)
  return {
    async send({ id, type, data }, text) {
      const body = text ?? JSON.stringify(data)
      const headers = signed(id, type, body)
      const startedAt = performance.now()
      const latency = () => performance.now() - startedAt
      try {
        const answer = await dispatcher.request({ origin, path, method: 'POST', headers, body })
        const response_body = await answer.body.text()
        return {
          event_id: id,
          status: answer.statusCode >= 200 && answer.statusCode < 300 ? 'SUCCESSFUL' : 'FAILED',
          code: answer.statusCode,
          latency_ms: latency(),
          error: null,
          request_headers: headers,
          response_headers: answer.headers,
          response_body,
        }
      } catch (cause) {
        const none = { code: null, response_headers: null, response_body: null }
        const error = cause instanceof Error ? cause.message : 'failed'
        return { event_id: id, status: 'FAILED', ...none, latency_ms: latency(), error, request_headers: headers }
      }
    },
    close: () => dispatcher.destroy(),
  }
}

function signed(id: string, type: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000))
  return {
    'content-type': 'application/json; charset=utf-8',
    'webhook-id': id,
    'webhook-event-type': type,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  }
}

/** Resolves when it was told so many times. */
export function countdown(count: number): { readonly over: Promise<void>; readonly tell: (more: number) => void } {
  let left = count
  let end: () => void
  const over = new Promise<void>((resolve) => (end = resolve))
  return {
    over,
    tell(more) {
      left -= more
      if (left <= 0) end()
    },
  }
}

/** Events that are delivered before the clock starts, so that few timed ones tell what many would. */
export const warmUp = 5000

/** Publishes events with these data in calls of 500, four under way at once. */
export async function publishAll(
  count: number,
  data: object,
  publish: (events: readonly OwnEvent[]) => Promise<unknown>,
): Promise<void> {
  await sideBySide(Math.ceil(count / eventsInCall), callsAtOnce, (call) => {
    const length = Math.min(eventsInCall, count - call * eventsInCall)
    return publish(Array.from({ length }, () => ({ id: randomUUID(), type: 'bench.event', data })))
  })
}

/** Publishes and waits until all is delivered, lap after lap. */
export function laps(data: object): {
  run(events: number, publish: (events: readonly OwnEvent[]) => Promise<unknown>): Promise<void>
  delivered(count?: number): void
} {
  let done = countdown(0)
  return {
    delivered: (count = 1) => done.tell(count),
    async run(events, publish) {
      done = countdown(events)
      await publishAll(events, data, publish)
      await done.over
    },
  }
}

/** Throws unless each event has a successful attempt with all that a reader may ask for. */
export async function checkTables(pool: pg.Pool, count: number): Promise<void> {
  const { rows } = await pool.query<{ n: number }>(
    `select count(distinct event_id)::int as n from own.attempts a
     where status = 'SUCCESSFUL' and code = 200 and response_body <> '' and response_headers ? 'date'
       and request_headers ? 'webhook-signature'
       and (request_body is not null or exists (select from own.events e where e.id = a.event_id))`,
  )
  checkCount(rows[0]!.n, count)
}

export function checkCount(found: number, count: number): void {
  if (found !== count) throw new Error(`${found} of ${count} events are delivered and recorded`)
}
