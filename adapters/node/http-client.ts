import { LRUCache } from 'lru-cache'

import type { Cancelable } from '../../src/contracts/cancelable.ts'
import type { HttpClient, Reply, SendOptions } from '../../src/contracts/http-client.ts'
import type { Proxy, SendRules } from '../../src/contracts/platform.ts'
import type { Outbound } from '../../src/contracts/request.ts'
import { denyRules } from '../../src/core/deny-rules.ts'
import { restOfAnswerMs } from '../../src/core/rest-of-answer.ts'
import { recordBytes } from '../../src/core/capture.ts'
import { cancelableBy } from './abort.ts'
import { connectionBounds } from './bounds.ts'
import { type RequestEnd, type OutgoingRequest, type Means, sendRequest } from './request.ts'
import { httpConnections } from './http-connections.ts'
import { type Resolve, guardedLookup, rememberNames, resolveNames } from './lookup.ts'
import { targets } from './target.ts'
import { proxyTunnel } from './tunnel.ts'
import { loadUndici, undiciConnections } from './undici-connections.ts'
import type { TlsOptions } from './connection.ts'

export interface GuardedOptions extends SendRules {
  /** A forward proxy, such as `http://user:password@proxy.example:3128`. Default: none. Not on Bun. */
  readonly proxy?: Proxy
  /** A private certificate authority and a client certificate, for receivers. Default: the runtime's authorities, no certificate. */
  readonly tls?: TlsOptions
  /** How names are looked up. Default: our own resolver, then the system's. */
  readonly resolve?: Resolve
}

/** The client below the contract: bytes in, bytes out. */
export interface Guarded {
  request(url: string, request: OutgoingRequest): Promise<RequestEnd>
  close(): void
  /** Connections open now. */
  readonly connections: number
}

/**
 * An HTTP client that connects only to addresses that the rules allow. An address in a url is judged before the
 * request; a name is judged when the connection is made, by the very address that is dialled. The client follows no
 * redirect, speaks TLS 1.2 and newer, and holds at most 512 connections to one origin and 2048 in all, shared by
 * workspace; idle connections are closed after 4 s. Nothing is decompressed. On Node the client uses undici; on Deno,
 * on Bun and through a proxy it uses `node:http`, with the same promises.
 * @throws PosthornError `validation` for rules or a proxy that cannot be understood.
 */
export function guarded(options: GuardedOptions, load: typeof loadUndici = loadUndici): Guarded {
  const { tls = {}, proxy } = options
  const judge = denyRules(options)
  const resolve = rememberNames(options.resolve ?? resolveNames())
  const tunnel = proxy === undefined ? null : proxyTunnel({ proxy, tls, resolve, judge })
  const bounds = connectionBounds()
  const wiring = { tls, lookup: guardedLookup(resolve, judge), bounds }
  const means = { bounds, isLookingUp: resolve.pending }
  const slow: Means = { ...means, connections: httpConnections({ ...wiring, tunnel }) }
  /** Undefined until it is known whether undici can be loaded. */
  let fast: Means | null | undefined = tunnel === null ? undefined : null
  /** Origins that only `node:http` can speak to. */
  const misfits = new LRUCache<string, true>({ max: 1000 })
  const aimAt = targets(judge)

  async function loadFast(): Promise<void> {
    const UndiciClient = await load()
    const onMisfit = (origin: string): void => void misfits.set(origin, true)
    fast ??=
      UndiciClient === null ? null : { ...means, connections: undiciConnections(UndiciClient, { ...wiring, onMisfit }) }
  }

  function requestOver(url: string, request: OutgoingRequest): Promise<RequestEnd> {
    const aim = aimAt(url)
    if (aim.kind === 'denied') return Promise.resolve({ kind: 'denied', message: aim.message })
    if (aim.kind === 'error') return Promise.resolve({ kind: 'error', message: aim.message, unreachable: false })
    const isMisfit = misfits.size > 0 && misfits.has(aim.target.origin)
    return sendRequest(isMisfit ? slow : (fast ?? slow), aim.target, request)
  }

  return {
    request: (url, request) =>
      fast === undefined ? loadFast().then(() => requestOver(url, request)) : requestOver(url, request),
    close() {
      slow.connections.dropIdle()
      fast?.connections.dropIdle()
    },
    get connections() {
      return bounds.connections
    },
  }
}

/** {@link guarded} behind the contract of deliveries. */
export function guardedClient(
  options: GuardedOptions,
  load: typeof loadUndici = loadUndici,
): HttpClient & { readonly connections: number } {
  const client = guarded(options, load)

  function send({ url, method, headers, body }: Outbound, options: SendOptions, until?: Cancelable): Promise<Reply> {
    const { timeoutMs, captureBytes, workspaceId } = options
    const ending = client.request(url, {
      method,
      headers,
      body: method === 'GET' || method === 'DELETE' ? null : body,
      timeoutMs,
      workspace: workspaceId ?? null,
      restMs: restOfAnswerMs,
      until: until ?? cancelableBy(options.signal),
      maxBytes: captureBytes,
    })
    return ending.then((known) => (known.kind === 'response' ? replyOf(known, captureBytes) : known))
  }

  return {
    send,
    async close() {
      client.close()
    },
    get connections() {
      return client.connections
    },
  }
}

function replyOf({ status, head, body, ended }: RequestEnd & { kind: 'response' }, maxBytes: number): Reply {
  return { kind: 'response', status, headers: head.recorded(maxBytes), body: recordBytes(body, maxBytes), ended }
}
