import { isIP } from 'node:net'

import { LRUCache } from 'lru-cache'

import type { DenyRules } from '../../src/core/deny-rules.ts'

/** Where a request goes, as sockets need it. */
export interface Target {
  /** Scheme, host and port: what an open connection can be used for again. */
  readonly origin: string
  readonly secure: boolean
  /** A name without a dot at the end, or an address without brackets. */
  readonly host: string
  readonly port: number
  /** With the query. */
  readonly path: string
  /** The name that TLS asks and checks; empty for an address. */
  readonly servername: string
}

/** A target, or why the url has no target. */
export type Aim =
  | { readonly kind: 'target'; readonly target: Target }
  | { readonly kind: 'denied'; readonly message: string }
  | { readonly kind: 'error'; readonly message: string }

/** Reads a url and judges the host as far as that goes without a lookup. Remembers the 1,000 urls used last. */
export function targets(judge: DenyRules): (url: string) => Aim {
  const known = new LRUCache<string, Aim>({ max: 1000 })
  return (url) => {
    let aim = known.get(url)
    if (aim === undefined) known.set(url, (aim = aimAt(url, judge)))
    return aim
  }
}

function aimAt(text: string, judge: DenyRules): Aim {
  if (!URL.canParse(text)) return { kind: 'error', message: 'the url is not valid' }
  const url = new URL(text)
  const secure = url.protocol === 'https:'
  if (!secure && url.protocol !== 'http:') return { kind: 'error', message: 'the url is neither http nor https' }
  if (url.username !== '' || url.password !== '') {
    return { kind: 'error', message: 'the url must not contain credentials' }
  }
  const verdict = judge.judgeHost(url.hostname)
  if (verdict.kind === 'denied') return { kind: 'denied', message: verdict.message }
  // Judged here, since no lookup is made for an address: nothing else would stop it.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  return {
    kind: 'target',
    target: {
      origin: `${url.protocol}//${url.host}`,
      secure,
      host,
      port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
      path: url.pathname + url.search,
      servername: isIP(host) === 0 ? host : '',
    },
  }
}
