import { randomBytes } from 'node:crypto'

import type { Platform } from '../../src/contracts/platform.ts'
import { lazy } from '../../src/runtime/lazy.ts'
import { hmac } from './hmac.ts'
import { guardedClient } from './http-client.ts'
import { startThread } from './threads.ts'
import { countCollections, vitals } from './vitals.ts'

const sealing = lazy(() => import('../../src/core/aes-gcm.ts'))

/** Node, Deno and Bun. */
export const nodePlatform: Platform = {
  http({ deny, allow, proxy }) {
    countCollections() // every instance asks for a client when it is made: from then on
    return guardedClient({ deny, allow, ...(proxy !== undefined && { proxy }) })
  },
  hmac,
  randomBytes: (length) => randomBytes(length),
  cipher: async (key) => (await sealing()).aesGcm(key, randomBytes),
  vitals,
  production: () => process.env['NODE_ENV'] === 'production',
  batches: true,
  thread: startThread,
}
