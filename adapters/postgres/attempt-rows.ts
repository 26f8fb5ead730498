import type { NewAttempt, StoredAttempt, StoredStatus } from '../../src/contracts/storage/attempts.ts'
import type { AttemptErrorCode } from '../../src/schema/attempt.ts'
import { number, numberOrNull, type Row } from '../sql/values.ts'

/** An attempt as it was made. */
export function plannedOf(row: Row): NewAttempt {
  return {
    id: row['id'] as string,
    event_id: row['event_id'] as string,
    endpoint_id: row['endpoint_id'] as string,
    attempt_number: number(row['attempt_number']),
    scheduled_at: number(row['scheduled_at']),
    trigger_mode: row['trigger_mode'] as NewAttempt['trigger_mode'],
    created_at: number(row['created_at']),
  }
}

/** An attempt with its outcome, if it has an outcome. Headers and bodies are null where they were not asked for. */
export function attemptOf(row: Row): StoredAttempt {
  const status = (row['status'] ?? 'OPEN') as StoredStatus
  return {
    ...plannedOf(row),
    status,
    attempted_at: numberOrNull(row['attempted_at']),
    exhausted: row['exhausted'] === true,
    error_code: row['error_code'] as AttemptErrorCode | null,
    error_message: row['error_message'] as string | null,
    request:
      row['request_method'] === null
        ? null
        : {
            method: row['request_method'] as string,
            url: row['request_url'] as string,
            headers: headersOf(row['request_headers']),
            body: (row['request_body'] ?? null) as string | null,
            fromEvent: row['request_from_event'] === true,
          },
    response:
      row['response_status'] === null
        ? null
        : {
            status: number(row['response_status']),
            latency: number(row['response_latency']),
            headers: headersOf(row['response_headers']),
            body: (row['response_body'] ?? null) as string | null,
          },
    updated_at: number(status === 'OPEN' ? row['created_at'] : row['settled_at']),
    event_type: row['event_type'] as string,
  }
}

function headersOf(text: unknown): Readonly<Record<string, string>> | null {
  return typeof text === 'string' ? (JSON.parse(text) as Record<string, string>) : null // as it was written
}
