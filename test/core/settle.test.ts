import { describe, expect, test } from 'vitest'

import type { Counted, StoredRequest } from '../../src/contracts/storage/attempts.ts'
import { type Outcome, settle } from '../../src/core/settle.ts'
import { attemptRow, endpointRow } from '../support/rows.ts'

const request: StoredRequest = {
  method: 'POST',
  url: 'http://receiver.test/hook',
  headers: {},
  body: null,
  fromEvent: true,
}
const now = 100_000

const answered = (status: number, retryAfter?: string): Outcome => ({
  kind: 'answered',
  request,
  response: { status, latency: 5, headers: {}, body: '' },
  retryAfter,
})

function ending(
  outcome: Outcome,
  changes: { attempt?: number; retries?: boolean; endpoint?: null; counted?: Counted } = {},
) {
  return settle(
    {
      workspaceId: 'default',
      attempt: attemptRow({ attempt_number: changes.attempt ?? 1 }),
      eventType: 'order.paid',
      claim: null,
      endpoint: changes.endpoint === null ? null : endpointRow(),
      startedAt: 99_000,
      retries: changes.retries ?? true,
      counted: changes.counted ?? null,
    },
    outcome,
    now,
    () => 'next',
  )
}

describe('a try that', () => {
  test.each([200, 201, 204, 299])('was answered %i is SUCCESSFUL and nothing follows', (status) => {
    const { settlement } = ending(answered(status))
    expect(settlement).toMatchObject({
      status: 'SUCCESSFUL',
      exhausted: false,
      error_code: null,
      next: null,
      attempted_at: 99_000,
    })
  })

  test.each([100, 199, 301, 302, 400, 404, 500])('was answered %i is FAILED and followed by another', (status) => {
    const { settlement } = ending(answered(status))
    expect(settlement).toMatchObject({ status: 'FAILED', exhausted: false, error_code: null, disable: null })
    expect(settlement.next).toMatchObject({
      id: 'next',
      attempt_number: 2,
      scheduled_at: now + 60_000,
      trigger_mode: 'AUTOMATIC',
    })
  })

  test('was the last of its policy is exhausted', () => {
    expect(ending(answered(500), { attempt: 3 }).settlement).toMatchObject({ exhausted: true, next: null })
  })

  test('timed out is FAILED with TIMEOUT, and followed', () => {
    const { settlement } = ending({ kind: 'timeout', request, message: 'timed out' })
    expect(settlement).toMatchObject({
      status: 'FAILED',
      error_code: 'TIMEOUT',
      error_message: 'timed out',
      response: null,
      request,
    })
    expect(settlement.next).not.toBeNull()
  })

  test('was denied is FAILED with DENIED for good, and keeps its request', () => {
    const { settlement } = ending({ kind: 'denied', request, message: 'denied' })
    expect(settlement).toMatchObject({ status: 'FAILED', error_code: 'DENIED', exhausted: true, next: null, request })
  })

  test('met a failing plugin is FAILED with PLUGIN_ERROR, without a request, and followed', () => {
    const { settlement } = ending({ kind: 'plugin_error', message: 'boom' })
    expect(settlement).toMatchObject({
      status: 'FAILED',
      error_code: 'PLUGIN_ERROR',
      request: null,
      attempted_at: 99_000,
    })
    expect(settlement.next).not.toBeNull()
  })

  test.each([
    ['endpoint_gone', 'ENDPOINT_NOT_FOUND'],
    ['endpoint_disabled', 'ENDPOINT_DISABLED'],
    ['event_gone', 'EVENT_NOT_FOUND'],
  ] as const)('found its %s is CANCELED with %s', (kind, code) => {
    const counted = { event_type: 'order.paid', told: false }
    const { settlement } = ending({ kind }, { counted })
    expect(settlement).toMatchObject({
      status: 'CANCELED',
      error_code: code,
      attempted_at: null,
      exhausted: false,
      next: null,
      request: null,
      counted,
    })
  })

  test('was answered 410 ends the tries and disables the endpoint it was sent to', () => {
    const { settlement } = ending(answered(410))
    expect(settlement).toMatchObject({ status: 'FAILED', exhausted: true, next: null, disable: { url: request.url } })
  })

  test('was not to be retried is exhausted at once', () => {
    expect(ending(answered(500), { retries: false }).settlement).toMatchObject({ exhausted: true, next: null })
  })
})

describe('Retry-After', () => {
  test.each([429, 503])('on %i moves the follow-up and pauses the endpoint', (status) => {
    const { settlement, pauseUntil } = ending(answered(status, '300'))
    expect(pauseUntil).toBe(now + 300_000)
    expect(settlement.next?.scheduled_at).toBe(now + 300_000)
  })

  test('never moves the follow-up earlier', () => {
    expect(ending(answered(429, '1')).settlement.next?.scheduled_at).toBe(now + 60_000)
  })

  test('on any other status means nothing', () => {
    expect(ending(answered(500, '300'))).toMatchObject({
      pauseUntil: null,
      settlement: { next: { scheduled_at: now + 60_000 } },
    })
  })

  test('pauses the endpoint after its last try too', () => {
    expect(ending(answered(503, '300'), { attempt: 3 }).pauseUntil).toBe(now + 300_000)
  })
})
