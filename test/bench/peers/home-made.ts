import { createHmac, createSecretKey, randomUUID } from 'node:crypto'

import pg from 'pg'
import { Agent, request } from 'undici'

import { sideBySide } from '../compare.ts'

// What the home-made systems have in common: the tables, the signed request, the row that tells how it ended. Events
// come one at a time, as they do from the handlers of an application.

export interface OwnEvent {
  readonly id: string
  readonly type: string
  readonly body: string
}

export interface Outcome {
  readonly status: number
  readonly latencyMs: number
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly responseHeaders: Readonly<Record<string, unknown>>
  readonly responseBody: string
}

export const concurrency = 256
const timeoutMs = 10_000
const secret = createSecretKey(Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'utf8'))

export function newEvent(data: unknown): OwnEvent {
  return { id: randomUUID(), type: 'bench.event', body: JSON.stringify(data) }
}

/** Makes a schema with the two tables, empty. The pool prepares its statements by name. */
export async function openTables(url: string, max: number): Promise<pg.Pool> {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  await pool.query(`
    drop schema if exists own cascade;
    create schema own;
    create table own.events (
      id uuid primary key, type text not null, body text not null, created_at timestamptz not null default now()
    );
    create table own.deliveries (
      id bigint generated always as identity primary key, event_id uuid not null, status text not null,
      http_status int, latency_ms float8, request_headers jsonb, response_headers jsonb, response_body text,
      delivered_at timestamptz not null default now()
    );
    create index on own.deliveries (event_id);`)
  return pool
}

export async function storeEvent(pool: pg.Pool, { id, type, body }: OwnEvent): Promise<void> {
  await pool.query({
    name: 'event',
    text: 'insert into own.events (id, type, body) values ($1, $2, $3)',
    values: [id, type, body],
  })
}

export async function storeOutcome(pool: pg.Pool, eventId: string, outcome: Outcome): Promise<void> {
  await pool.query({
    name: 'outcome',
    text: `insert into own.deliveries
      (event_id, status, http_status, latency_ms, request_headers, response_headers, response_body)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      eventId,
      outcome.status >= 200 && outcome.status < 300 ? 'SUCCESSFUL' : 'FAILED',
      outcome.status,
      outcome.latencyMs,
      JSON.stringify(outcome.requestHeaders),
      JSON.stringify(outcome.responseHeaders),
      outcome.responseBody,
    ],
  })
}

/** Sends an event once, signed as Standard Webhooks says, over kept-alive connections. */
export function sender(url: string): (event: OwnEvent) => Promise<Outcome> {
  const dispatcher = new Agent({
    connections: concurrency,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  })
  return async ({ id, type, body }) => {
    const timestamp = String(Math.floor(Date.now() / 1000))
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-event-type': type,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
    }
    const startedAt = performance.now()
    const answer = await request(url, { dispatcher, method: 'POST', headers, body })
    const responseBody = await answer.body.text()
    return {
      status: answer.statusCode,
      latencyMs: performance.now() - startedAt,
      requestHeaders: headers,
      responseHeaders: answer.headers,
      responseBody,
    }
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
export const warmUp = 1500

/** Publishes and waits until all is delivered, lap after lap. */
export function laps(): { run(events: number, publish: () => Promise<void>): Promise<void>; delivered(): void } {
  let done = countdown(0)
  return {
    delivered: () => done.tell(1),
    async run(events, publish) {
      done = countdown(events)
      await sideBySide(events, concurrency, publish)
      await done.over
    },
  }
}

/** Throws unless there is a successful delivery of each event. */
export async function checkTables(pool: pg.Pool, count: number): Promise<void> {
  const { rows } = await pool.query<{ n: number }>(
    `select count(distinct d.event_id)::int as n from own.deliveries d join own.events e on e.id = d.event_id
     where d.status = 'SUCCESSFUL'`,
  )
  if (rows[0]!.n !== count) throw new Error(`${rows[0]!.n} of ${count} events are delivered`)
}
