import { serve } from '@hono/node-server'

import { createPosthorn, type Posthorn } from '../../src/index.ts'

/** An instance in memory whose administrative API answers at the url, which its document names. */
export async function served(): Promise<{ posthorn: Posthorn; url: string; close: () => void }> {
  let posthorn: Posthorn | undefined
  let server: ReturnType<typeof serve> | undefined
  const port = await new Promise<number>((resolve) => {
    const fetch = (request: Request) => posthorn!.admin.fetch(request) // nobody knows the port before
    server = serve({ fetch, hostname: '127.0.0.1', port: 0 }, (address) => resolve(address.port))
  })
  const url = `http://127.0.0.1:${port}`
  posthorn = createPosthorn({ admin: { publicUrl: url } })
  return { posthorn, url, close: () => void server?.close() }
}
