import { createHmac, randomBytes } from 'node:crypto'

import type { HashName, Platform } from '../../src/contracts/platform.ts'
import type { InboundContext, OutboundContext, PluginKind } from '../../src/contracts/plugin.ts'
import type { Inbound, Outbound } from '../../src/contracts/request.ts'
import { portablePlatform } from '../../src/portable.ts'
import { checkStandard } from '../../src/schema/standard.ts'

/** As much of a platform as plugins use, by node:crypto. */
export const platform: Platform = {
  http: () => {
    throw new Error('plugins send nothing')
  },
  hmac: (hash, key, data) => new Uint8Array(createHmac(hash.replace('-', ''), key).update(data).digest()),
  randomBytes: (length) => new Uint8Array(randomBytes(length)),
  cipher: portablePlatform.cipher,
  vitals: () => ({
    version: '',
    handles: 0,
    heapUsed: 0,
    heapTotal: 0,
    residentSet: 0,
    heapObjects: 0,
    collections: 0,
  }),
  batches: true,
}

export const now = 1_726_285_679_500
export const seconds = String(Math.floor(now / 1000))

export function mac(hash: HashName, key: string | Uint8Array, data: string | Uint8Array) {
  return createHmac(hash.replace('-', ''), key).update(data)
}

interface Sent {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>> | readonly (readonly [string, string])[]
  readonly body?: string | Uint8Array
}

export function inboundRequest({ method = 'POST', path = '/in', headers = {}, body = '' }: Sent): Inbound {
  const url = new URL(path, 'http://127.0.0.1')
  const pairs = Array.isArray(headers) ? headers.map(([name, value]) => [name, value] as [string, string]) : headers
  return {
    method,
    url,
    path: url.pathname,
    headers: new Headers(pairs as Record<string, string>), // either form is one that Headers takes
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
  }
}

const log = { debug() {}, info() {}, warn() {}, error() {} }

export function inboundContext(at = now): InboundContext {
  return {
    now: at,
    signal: new AbortController().signal,
    log,
    workspaceId: 'default',
    source: { id: 'src_1', name: null },
  }
}

export function outboundContext(change: Partial<OutboundContext['event']> = {}): OutboundContext {
  return {
    now,
    signal: new AbortController().signal,
    log,
    workspaceId: 'default',
    event: {
      id: 'evt_1',
      event_type: 'invoice.paid',
      data: 'foo',
      ingested_at: 1_700_000_000_123,
      unique_id: null,
      ...change,
    },
    attempt: { id: 'att_1', attempt_number: 1, trigger_mode: 'INITIAL' },
    endpoint: { id: 'ep_1', name: null },
  }
}

function outboundRequest(body: string | null): Outbound {
  return { method: 'POST', url: 'https://example.com/in', headers: { 'content-type': 'application/json' }, body }
}

/** What a config is refused for when it is written: its reasons by place, or null. Secrets are made first, as on a write. */
export async function refusal(kind: PluginKind, config: Readonly<Record<string, unknown>>): Promise<unknown> {
  const parsed = await checkStandard(kind.config, kind.fill?.(config, platform) ?? config)
  if (!parsed.ok) return JSON.parse(JSON.stringify(parsed.fields))
  return (await kind.verify?.(parsed.value, platform)) ?? null
}

/** The config as it is stored. */
export async function written(kind: PluginKind, config: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
  const parsed = await checkStandard(kind.config, kind.fill?.(config, platform) ?? config)
  if (!parsed.ok) throw new Error(`refused: ${JSON.stringify(parsed.fields)}`)
  return parsed.value
}

/** A source guarded by one plugin: answers the status that a sender gets, 200 where the request passes. */
export async function guard(kind: PluginKind, config: Readonly<Record<string, unknown>>, context = inboundContext()) {
  const plugin = await kind.prepare(await written(kind, config), platform)
  return async (sent: Sent): Promise<number> => {
    const request = inboundRequest(sent)
    const verdict = await plugin.inbound!(request, context)
    if (!(verdict instanceof Response)) return verdict === request ? 200 : 500
    const body = await verdict.text()
    if (verdict.status !== 401 || body !== '{"message":"Unauthorized"}')
      throw new Error(`answered ${verdict.status} ${body}`)
    return verdict.status
  }
}

/** The request that leaves after one plugin. */
export async function sent(
  kind: PluginKind,
  config: Readonly<Record<string, unknown>>,
  body: string | null,
  context = outboundContext({ data: body ?? 'foo' }),
): Promise<Outbound> {
  const plugin = await kind.prepare(await written(kind, config), platform)
  return plugin.outbound!(outboundRequest(body), context)
}
