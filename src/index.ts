import { makePosthorn } from './posthorn.ts'
import { portablePlatform } from './portable.ts'

export * from './exports.ts'

/**
 * Makes an instance on web standards alone, for edge runtimes. Where requests may go is judged by literal addresses only.
 *
 * @example
 * const posthorn = createPosthorn({ storage: redis(client) })
 * export default { fetch: (request: Request) => posthorn.gateway.fetch(request) }
 */
export const createPosthorn = makePosthorn(portablePlatform)
