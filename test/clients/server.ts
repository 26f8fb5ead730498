import { serve } from '@hono/node-server'

import { memory } from '../../adapters/memory/index.ts'
import { openPostgres } from '../../adapters/postgres/index.ts'
import { openRedis } from '../../adapters/redis/index.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { createPosthorn, type Posthorn } from '../../src/index.ts'

/** The engine that DATABASE_URL or REDIS_URL names, for runs by hand; memory without them. */
async function storageOf({ DATABASE_URL: database, REDIS_URL: redis }: NodeJS.ProcessEnv): Promise<Storage> {
  if (database !== undefined) {
    const storage = openPostgres(database)
    await storage.migrate()
    return storage
  }
  return redis === undefined ? memory() : await openRedis(redis)
}

/** An instance whose administrative API answers at the url, which its document names. */
export async function served(): Promise<{ posthorn: Posthorn; url: string; close: () => void }> {
  let posthorn: Posthorn | undefined
  let server: ReturnType<typeof serve> | undefined
  const port = await new Promise<number>((resolve) => {
    const fetch = (request: Request) => posthorn!.admin.fetch(request) // nobody knows the port before
    server = serve({ fetch, hostname: '127.0.0.1', port: 0 }, (address) => resolve(address.port))
  })
  const url = `http://127.0.0.1:${port}`
  posthorn = createPosthorn({ storage: await storageOf(process.env), admin: { publicUrl: url } })
  return { posthorn, url, close: () => void server?.close() }
}
