import { makePosthorn } from '../../src/posthorn.ts'
import { nodePlatform } from './platform.ts'

export * from '../../src/public.ts'

/** Makes an instance with the guarded HTTP client, for Node, Deno and Bun. Nothing runs before `start`. */
export const createPosthorn = makePosthorn(nodePlatform)
