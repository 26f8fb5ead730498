import type { Cancelable } from './cancelable.ts'
import type { Outbound } from './request.ts'

export interface SendOptions {
  /** Over lookup, connection, request and answer. After the status, the rest has a second at most. */
  readonly timeoutMs: number
  /** Aborted when the hold on the attempt is lost or the worker stops. */
  readonly signal: AbortSignal
  /** The most bytes that are read and recorded of the answer's body, and of its headers. */
  readonly captureBytes: number
  /**
   * The workspace whose request this is: a client may share its connections by workspace. Missing for requests of the
   * host itself.
   */
  readonly workspaceId?: string
}

/**
 * What came of a request. Once a status has arrived it is a `response`, even if the body then stalls: `body` is what
 * arrived of it. `ended` is false when the rest of the answer broke off, or did not arrive within a second after the
 * status (or within what was left of `timeoutMs`); then the connection is closed, and the endpoint counts as slow.
 * `ended` is true when the answer ended in time, and when reading stopped on our side: at `captureBytes`, or by the
 * signal. With an `error` it is false where an answer was given up before its end, as what frames it is too long: then the endpoint
 * counts as slow too. `message` is a sentence (at most 512 code points) for a person, without secrets. `unreachable` says that no
 * connection to the endpoint was possible, unlike an endpoint that answered badly. `busy`: the client had no place for
 * the request in time. Nothing was sent, nothing is recorded, and the attempt goes back to the queue as it was.
 * `aborted`: by the signal, before a status came; `isUnsent` where it is known that no request was begun, which then counts
 * as none.
 */
export type Reply =
  | {
      readonly kind: 'response'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
      readonly ended: boolean
    }
  | { readonly kind: 'timeout'; readonly message: string }
  | { readonly kind: 'denied'; readonly message: string }
  | { readonly kind: 'error'; readonly message: string; readonly unreachable: boolean; readonly ended?: boolean }
  | { readonly kind: 'busy'; readonly message: string }
  | { readonly kind: 'aborted'; readonly isUnsent?: true }

/** Sends one request. It never throws and never follows a redirect. */
export interface HttpClient {
  /**
   * `until` tells the same as `options.signal`, which is made when it is read: a client that follows `until` saves a signal
   * for each delivery, a tenth of the time of a delivery. Missing for requests that the worker does not make.
   */
  send(request: Outbound, options: SendOptions, until?: Cancelable): Promise<Reply>
  /** Closes idle connections. */
  close?(): Promise<void>
}
