import { makePosthorn } from '../../src/posthorn.ts'
import { nodePlatform } from './platform.ts'

export * from '../../src/public.ts'
export { createGuardedFetch, type GuardedFetchOptions } from './guarded-fetch.ts'
export { guardedClient, type GuardedOptions } from './http-client.ts'

/** Makes an instance with the guarded HTTP client, for Node, Deno and Bun. Nothing runs before `start`. */
export const createPosthorn = makePosthorn(nodePlatform)
