import type { Awaitable } from './plugin.ts'
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

/** What a runtime gives. The portable one uses web standards alone; that of Node, Deno and Bun is faster and safer. */
export interface Platform {
  /** The default HTTP client. */
  http(rules: SendRules): HttpClient
  hmac(hash: HashName, key: Uint8Array, data: Uint8Array): Awaitable<Uint8Array>
  randomBytes(length: number): Uint8Array
  vitals(): Vitals
  /** Whether calls may share a batch; false where work for one request may not ride on another's. */
  readonly gathers: boolean
}
