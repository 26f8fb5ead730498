import type { HttpClient, Reply, SendOptions } from '../contracts/http-client.ts'
import type { Outbound } from '../contracts/plugin.ts'
import type { Cancelable, Cancellation } from './cancellation.ts'

type Send<Until> = (request: Outbound, options: Omit<SendOptions, 'signal'>, until: Until) => Promise<Reply>

/** Clients of ours that need no `AbortSignal`. One that wraps such a client is another client, and is asked to `send`. */
const withoutSignal = new WeakMap<HttpClient, Send<Cancelable>>()

/** Says how a client sends without an `AbortSignal` for each request. */
export function sendsWithoutSignal<Client extends HttpClient>(client: Client, send: Send<Cancelable>): Client {
  withoutSignal.set(client, send)
  return client
}

/** How to send with this client. */
export function senderOf(client: HttpClient): Send<Cancellation> {
  return (
    withoutSignal.get(client) ??
    ((request, { timeoutMs, captureBytes, workspaceId }, { signal }) =>
      client.send(request, {
        timeoutMs,
        signal,
        captureBytes,
        ...(workspaceId === undefined ? {} : { workspaceId }),
      }))
  )
}
