import type { NewAttempt } from '../../src/contracts/storage/attempts.ts'
import type { Endpoint } from '../../src/schema/endpoint.ts'
import type { StoredEvent } from '../../src/schema/event.ts'

/** An endpoint with all defaults. */
export function endpointRow(changes: Partial<Endpoint> = {}): Endpoint {
  return {
    id: 'endpoint',
    name: null,
    description: null,
    enabled: true,
    request: { url: 'http://receiver.test/hook', method: 'POST', headers: null, timeout: 10_000 },
    retry: { strategy: 'fixed', config: { attempts: [0, 60, 3600], jitter: 0 } },
    events: ['*'],
    metadata: {},
    rate_limit: null,
    created_at: 0,
    updated_at: 0,
    disabled_at: null,
    disabled_reason: null,
    disabled_detail: null,
    paused: false,
    ...changes,
  }
}

export function eventRow(changes: Partial<StoredEvent> = {}): StoredEvent {
  return {
    id: 'event',
    event_type: 'order.created',
    data: '{"n":1}',
    ingested_at: 0,
    unique_id: null,
    created_at: 0,
    updated_at: 0,
    ...changes,
  }
}

export function attemptRow(changes: Partial<NewAttempt> = {}): NewAttempt {
  return {
    id: 'attempt',
    event_id: 'event',
    endpoint_id: 'endpoint',
    attempt_number: 1,
    scheduled_at: 0,
    trigger_mode: 'INITIAL',
    created_at: 0,
    ...changes,
  }
}
