import type { Outbound } from '../../src/contracts/request.ts'
import type { Reply, SendOptions } from '../../src/contracts/http-client.ts'
import { onTestFinished } from 'vitest'

import { type GuardedOptions, guardedClient } from '../../adapters/node/http-client.ts'
import { loadUndici } from '../../adapters/node/undici-connections.ts'

/** What makes clients over each kind of connections. */
export const connectionKinds = [
  ['undici', clientOver(loadUndici)],
  ['node:http', clientOver(async () => null)],
] as const

/** A guarded client without rules unless given, closed when the test is over, and a short way to send with it. */
function clientOver(load: typeof loadUndici) {
  return (options: Partial<GuardedOptions> = {}) => {
    const http = guardedClient({ deny: [], allow: [], ...options }, load)
    onTestFinished(() => http.close?.())
    return {
      http,
      send: (url: string, { request, ...rest }: Partial<SendOptions> & { request?: Partial<Outbound> } = {}) =>
        http.send(
          { method: 'POST', url, headers: {}, body: '{}', ...request },
          { timeoutMs: 5000, signal: new AbortController().signal, captureBytes: 65_536, ...rest },
        ),
    }
  }
}

/** As a host gets one. */
export const client = clientOver(loadUndici)

/** The reply, which must be of that kind. */
export function expectKind<Kind extends Reply['kind']>(reply: Reply, kind: Kind): Reply & { kind: Kind } {
  if (reply.kind !== kind) throw new Error(`expected ${kind}: ${JSON.stringify(reply)}`)
  return reply as Reply & { kind: Kind } // just looked at
}
