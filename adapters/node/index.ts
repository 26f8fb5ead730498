import type { HttpClient } from '../../src/contracts/http-client.ts'
import { makePosthorn } from '../../src/posthorn.ts'
import { type GuardedOptions, guardedClient as client } from './http-client.ts'
import { nodePlatform } from './platform.ts'

export * from '../../src/exports.ts'
export { createGuardedFetch, type GuardedFetchOptions } from './guarded-fetch.ts'
export type { GuardedOptions } from './http-client.ts'
export type { Found, Resolve } from './lookup.ts'
export type { TlsOptions } from './connection.ts'

/**
 * Makes an instance with the guarded HTTP client, for Node, Deno and Bun. Nothing runs before `start`.
 *
 * @example
 * const posthorn = createPosthorn({ storage: postgres(pool) })
 * await posthorn.start()
 */
export const createPosthorn = makePosthorn(nodePlatform)

/**
 * The client that deliveries go through, with a proxy, a private certificate authority or a client certificate of your own.
 *
 * @throws PosthornError `validation` for rules or a proxy that cannot be understood.
 * @example const posthorn = createPosthorn({ http: guardedClient({ deny: ['@default'], allow: [], tls: { ca } }) })
 */
export function guardedClient(options: GuardedOptions): HttpClient {
  return client(options)
}
