import { LRUCache } from 'lru-cache'

import type { HttpClient, Reply } from '../../src/contracts/http-client.ts'
import type { SendRules } from '../../src/contracts/platform.ts'
import { addressJudge } from '../../src/core/address.ts'
import { recordBytes, recordHeaders } from '../../src/core/capture.ts'
import { connectionBounds } from './bounds.ts'
import { type Ending, type Exchange, type Means, exchange } from './exchange.ts'
import { httpWire } from './http-wire.ts'
import { type Resolve, guardedLookup, rememberNames, resolveNames } from './lookup.ts'
import { targets } from './target.ts'
import { proxyTunnel } from './tunnel.ts'
import { loadUndici, undiciWire } from './undici-wire.ts'
import type { TlsOptions } from './wire.ts'

export interface GuardedOptions extends SendRules {
  /** A forward proxy, such as `http://user:password@proxy.example:3128`. Default: none. Not on Bun. */
  readonly proxy?: string
  /** A private certificate authority and a client certificate. Default: the runtime's authorities, no certificate. */
  readonly tls?: TlsOptions
  /** How names are looked up. Default: our own resolver, then the system's. */
  readonly resolve?: Resolve
}

/** The client below the contract: bytes in, bytes out. */
export interface Guarded {
  exchange(url: string, request: Exchange): Promise<Ending>
  close(): void
  /** Connections open now. */
  readonly connections: number
}

/**
 * An HTTP client that connects only to addresses its rules let pass: literals are judged before, names at the moment of
 * connecting, by the very address that is dialled. It follows no redirect, speaks TLS 1.2 and newer, and keeps at most 512
 * connections to one origin and 2048 in all; idle ones are closed after 4 s. Nothing is decompressed. On Node it speaks
 * through undici, on Deno, on Bun and through a proxy by `node:http`: the promises are the same.
 * @throws PosthornError `validation` for rules or a proxy that cannot be understood.
 */
export function guarded(options: GuardedOptions, load: typeof loadUndici = loadUndici): Guarded {
  const { tls = {}, proxy } = options
  const judge = addressJudge(options)
  const resolve = rememberNames(options.resolve ?? resolveNames())
  const tunnel = proxy === undefined ? null : proxyTunnel({ proxy, tls, resolve, judge })
  const bounds = connectionBounds()
  const wiring = { tls, lookup: guardedLookup(resolve, judge), bounds }
  const means = { bounds, isLookingUp: resolve.pending }
  const slow: Means = { ...means, wire: httpWire({ ...wiring, tunnel }) }
  /** Undefined until it is known whether there is one. */
  let fast: Means | null | undefined = tunnel === null ? undefined : null
  /** Origins that only `node:http` can speak to. */
  const misfits = new LRUCache<string, true>({ max: 1000 })
  const aimAt = targets(judge)

  async function loadFast(): Promise<void> {
    const UndiciClient = await load()
    const onMisfit = (origin: string): void => void misfits.set(origin, true)
    fast ??= UndiciClient === null ? null : { ...means, wire: undiciWire(UndiciClient, { ...wiring, onMisfit }) }
  }

  return {
    async exchange(url, request) {
      const aim = aimAt(url)
      if (aim.kind === 'denied') return { kind: 'denied', message: aim.message }
      if (aim.kind === 'error') return { kind: 'error', message: aim.message, unreachable: false }
      if (fast === undefined) await loadFast()
      const isMisfit = misfits.size > 0 && misfits.has(aim.target.origin)
      return await exchange(isMisfit ? slow : (fast ?? slow), aim.target, request)
    },
    close() {
      slow.wire.dropIdle()
      fast?.wire.dropIdle()
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
  return {
    async send({ url, method, headers, body }, { timeoutMs, signal, captureBytes }) {
      const ending = await client.exchange(url, {
        method,
        headers,
        body: method === 'GET' || method === 'DELETE' ? null : body,
        timeoutMs,
        signal,
        maxBytes: captureBytes,
      })
      return ending.kind === 'response' ? replyOf(ending, captureBytes) : ending
    },
    async close() {
      client.close()
    },
    get connections() {
      return client.connections
    },
  }
}

function replyOf({ status, rawHeaders, body }: Ending & { kind: 'response' }, maxBytes: number): Reply {
  return {
    kind: 'response',
    status,
    headers: recordHeaders(pairs(rawHeaders), { maxBytes }),
    body: recordBytes(body, maxBytes),
  }
}

const beyondAscii = /[\x80-\xff]/

/** Names and values. node:http reads values as latin1; those of today are UTF-8 where they are not ASCII. */
function pairs(rawHeaders: readonly string[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [name, value] = [rawHeaders[i]!, rawHeaders[i + 1]!] // the condition says so
    pairs.push([name, beyondAscii.test(value) ? Buffer.from(value, 'latin1').toString() : value])
  }
  return pairs
}
