import type { Reply } from '../contracts/http-client.ts'
import type { Outbound } from '../contracts/request.ts'
import type { StoredRequest } from '../contracts/storage/attempts.ts'
import { recordFields, recordText } from '../core/capture.ts'
import type { Outcome } from '../core/settle.ts'
import { canonicalHeaders, type Compatible } from '../core/webhookx.ts'
import type { StoredEvent } from '../schema/event.ts'

/**
 * Makes the record of a request and the answer to it: texts cut at `captureBytes`, the values of secret headers left
 * out.
 */
export class OutcomeRecorder {
  readonly #headers: { readonly maxBytes: number; readonly redact: ReadonlySet<string> }
  readonly #captureBytes: number
  readonly #compatible: Compatible | undefined
  /** The headers of an answer that were found fit to be recorded as they are: many answers share their headers. */
  #fit: Readonly<Record<string, string>> | null = null

  /** `redact`: names of headers in lower case. */
  constructor(captureBytes: number, redact: ReadonlySet<string>, compatible?: Compatible) {
    this.#compatible = compatible
    this.#headers = { maxBytes: captureBytes, redact }
    this.#captureBytes = captureBytes
  }

  /** `latency`: whole milliseconds from the start of the request to the end of the answer. */
  outcomeOf(
    reply: Exclude<Reply, { kind: 'busy' | 'aborted' }>,
    sent: Outbound,
    event: StoredEvent,
    latency: number,
  ): Outcome {
    const request = this.#requestOf(sent, event)
    switch (reply.kind) {
      case 'timeout':
      case 'denied':
        return { kind: reply.kind, request, message: reply.message }
      case 'error':
        return { kind: 'failed', request, message: reply.message }
      case 'response': {
        const headers = this.#fit === reply.headers ? reply.headers : recordFields(reply.headers, this.#headers)
        this.#fit = headers
        const response = { status: reply.status, latency, headers, body: reply.body }
        const isLast = reply.headers['webhook-retry']?.trim().toLowerCase() === 'no'
        return { kind: 'answered', request, response, retryAfter: reply.headers['retry-after'], isLast }
      }
    }
  }

  /** The body is not recorded a second time when the data of the event was sent unchanged (`fromEvent`). */
  #requestOf({ method, url, headers, body }: Outbound, event: StoredEvent): StoredRequest {
    const fromEvent = body !== null && body === event.data
    const recorded = recordFields(headers, this.#headers)
    return {
      method,
      url,
      headers: this.#compatible === 'webhookx' ? canonicalHeaders(recorded) : recorded,
      body: fromEvent || body === null ? null : recordText(body, this.#captureBytes),
      fromEvent,
    }
  }
}
