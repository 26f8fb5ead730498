import type { Endpoint } from '../schema/endpoint.ts'
import { disabledEndpoint } from './endpoint-row.ts'

/** Whether an answer says that the receiver is gone for good: 410 Gone. It ends the retries and disables the endpoint. */
export function isGone(status: number | null): boolean {
  return status === 410
}

/** The endpoint, disabled because the receiver answered 410 Gone. */
export function goneEndpoint(row: Endpoint, at: number): Endpoint {
  return disabledEndpoint(row, at, 'gone', 'The receiver answered 410 Gone.')
}
