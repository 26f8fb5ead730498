import type { LookupFunction } from 'node:net'

import type { Bounds } from './bounds.ts'
import type { Head } from './head.ts'
import type { Target } from './target.ts'

/** A private certificate authority, and a client certificate with its key, in PEM. */
export interface TlsOptions {
  /** Authorities that certificates may come from, in PEM. Default: the runtime's. */
  readonly ca?: string | string[]
  /** A client certificate, in PEM. Default none. */
  readonly cert?: string
  /** The key of the client certificate, in PEM. */
  readonly key?: string
}

export interface Call {
  readonly target: Target
  readonly method: string
  /** Names and values in turn. Those that frame the message are not among them: the connection writes them. */
  readonly headers: readonly string[]
  readonly body: string | Uint8Array | null
  readonly timeoutMs: number
}

/** What hears of an answer. Nothing is said after the end or an error, nor once the line was cut. */
export interface Listener {
  /** Informational answers may come before the final answer. */
  onHeaders(status: number, head: Head, statusText: string): void
  /** A status line and headers came that are longer than `maxFramingBytes`: nobody looks at what is in them. */
  onLongHead(): void
  onData(chunk: Buffer): void
  /**
   * What came so far was handed over, and more is awaited. `received`: bytes since the call went out, framing included;
   * null where the parser of the connection bounds the framing itself.
   */
  onAwait(received: number | null): void
  /** The answer is whole. */
  onEnd(received: number | null): void
  /** No answer will come, or no more of it. */
  onError(cause: Error): void
}

/** A call under way. */
export interface Line {
  /** How far the connection of the call is: `handshaking` for TLS. */
  state(): 'connecting' | 'handshaking' | 'connected'
  /** Whether the call went out on a reused connection on which no byte has come since. */
  isStale(): boolean
  /** Ends the call and closes the connection. */
  cut(): void
}

/** A way to speak HTTP/1.1 over connections that stay open, with a single call on each at a time. Idle connections are closed after 4 s. */
export interface Connections {
  /** Sends on the connection that was used last, else on a new connection. @throws for a header that cannot be sent. */
  send(call: Call, listener: Listener): Line
  /** Closes the idle connections to an origin, or all idle connections. */
  dropIdle(origin?: string): void
}

export interface ConnectionOptions {
  readonly tls: TlsOptions
  /** What sockets ask for the address of a name. */
  readonly lookup: LookupFunction
  readonly bounds: Bounds
}

/**
 * The most bytes of an answer's status line and headers together, of a trailer, and of what frames a body in chunks. Thus
 * no line of them is longer. Servers of today send a few hundred bytes.
 */
export const maxFramingBytes = 16_384

/** Of a status line and headers as they are commonly written, line breaks included. */
export function headLength(statusText: string, rawHeaders: readonly { readonly length: number }[]): number {
  let length = 'HTTP/1.1 200 \r\n\r\n'.length + statusText.length
  for (const text of rawHeaders) length += text.length + 2
  return length
}

/** Receivers close idle connections after 5 s and more; a request that is sent at that moment is lost. */
export const idleMs = 4000
