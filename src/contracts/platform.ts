import type { Awaitable } from './awaitable.ts'
import type { HttpClient } from './http-client.ts'

export type HashName = 'md5' | 'sha-1' | 'sha-256' | 'sha-512'

/** What the runtime tells of itself for the status report; a figure it cannot tell is 0. Sizes in bytes. */
export interface Vitals {
  /** Such as `node v22.1.0`. */
  readonly version: string
  readonly handles: number
  readonly heapUsed: number
  readonly heapTotal: number
  readonly residentSet: number
  readonly heapObjects: number
  readonly collections: number
}

/** Rules of where requests may go: IP, CIDR, hostname, `*.suffix` or a group such as `@private`. */
export interface SendRules {
  readonly deny: readonly string[]
  readonly allow: readonly string[]
}

/**
 * A forward proxy: a url such as `http://user:password@proxy.example:3128`, or the url of a proxy that speaks TLS, with
 * the settings of that TLS.
 */
export type Proxy = string | { readonly url: string; readonly tls?: ProxyTls }

/** How to speak TLS with a proxy whose url is https, all in PEM. */
export interface ProxyTls {
  /** Authorities that may have signed the proxy's certificate. Default: those of the runtime. */
  readonly ca?: string | readonly string[]
  /** A client certificate, for a proxy that asks for it. */
  readonly cert?: string
  readonly key?: string
  /** False takes any certificate, so that whoever stands between may read all. Default true. */
  readonly rejectUnauthorized?: boolean
}

/** A separate process that answers one call at a time. An idle thread keeps no program alive. */
export interface Thread {
  /** False once the process has ended, by `kill` or by itself. */
  readonly alive: boolean
  /**
   * Answers what the script makes of a JSON value, as JSON, and how long a processor worked for it; rejects when the
   * process has ended.
   */
  call(message: unknown): Promise<{ readonly answer: unknown; readonly busyMs: number }>
  /** Ends the process at once, whatever it does. Twice is fine. */
  kill(): void
}

export interface ThreadScript {
  /**
   * A JavaScript expression: a function `(modules, hmac) => (message) => answer`, asynchronous or not, that refers to
   * nothing outside itself. What it makes may have a method `afterwards`, asynchronous or not, called when an answer is
   * out, to prepare the next answer.
   */
  readonly text: string
  /** The packages that the function is given, in this order. */
  readonly modules: readonly string[]
  /** The most that the JavaScript heap of the process may hold, where the runtime can bound it. */
  readonly heapBytes: number
  /** Whether the process yields to others that want a processor, where the system can be asked for that. */
  readonly yields?: boolean
}

/**
 * An authenticated cipher with one key. `bound` is not stored in the box, but the box opens only with the same `bound`.
 */
export interface Cipher {
  encrypt(data: Uint8Array, bound: Uint8Array): Promise<Uint8Array>
  /** Null when the box was made with another key or other `bound` bytes, or is damaged. */
  decrypt(box: Uint8Array, bound: Uint8Array): Promise<Uint8Array | null>
}

/**
 * What a runtime gives. The portable platform uses web standards alone; the platform of Node, Deno and Bun is faster
 * and safer.
 */
export interface Platform {
  /** The default HTTP client. @throws PosthornError `validation` for rules or a proxy that it cannot keep to. */
  http(rules: SendRules & { readonly proxy?: Proxy }): HttpClient
  /** The HMAC of bytes, or of the UTF-8 of a text. */
  hmac(hash: HashName, key: Uint8Array, data: Uint8Array | string): Awaitable<Uint8Array>
  randomBytes(length: number): Uint8Array
  /** AES-256-GCM with a key of 32 bytes. */
  cipher(key: Uint8Array): Promise<Cipher>
  vitals(): Vitals
  /** Whether the host says that this is no development machine (NODE_ENV); false where the host says nothing. */
  production?(): boolean
  /** Whether calls may share a batch; false where work for one request may not run within another request. */
  readonly batches: boolean
  /** Starts a thread; resolves when it is ready, rejects when it cannot start. Missing where a runtime has none. */
  thread?(script: ThreadScript): Promise<Thread>
}
