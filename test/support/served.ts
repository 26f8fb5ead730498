import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { getRequestListener } from '@hono/node-server'

import { createPosthorn, type Options, type Posthorn } from '../../adapters/node/index.ts'

export interface Served {
  readonly posthorn: Posthorn
  readonly admin: string
  readonly gateway: string
  stop(): Promise<void>
}

/** An instance on ports of loopback which delivers to loopback, started unless it shall have no worker. */
export async function served(options: Options = {}, { worker = true } = {}): Promise<Served> {
  const posthorn = createPosthorn({ ...options, deliver: { allow: ['@loopback'], ...options.deliver } })
  if (worker) await posthorn.start()
  const servers: Server[] = []
  const listening = async (handler: Posthorn['admin']): Promise<string> => {
    const listener = getRequestListener((request) => handler.fetch(request))
    const server = createServer((request, response) => void listener(request, response))
    servers.push(server)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a TCP server's address is one
  }
  return {
    posthorn,
    admin: await listening(posthorn.admin),
    gateway: await listening(posthorn.gateway),
    async stop() {
      for (const server of servers) {
        server.close()
        server.closeAllConnections()
      }
      await posthorn.stop()
    },
  }
}
