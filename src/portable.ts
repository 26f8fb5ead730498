import { LRUCache } from 'lru-cache'

import type { HttpClient, Reply, SendOptions } from './contracts/http-client.ts'
import type { HashName, Platform, Proxy, SendRules } from './contracts/platform.ts'
import type { Outbound } from './contracts/request.ts'
import { denyRules } from './core/deny-rules.ts'
import { restOfAnswerMs } from './core/rest-of-answer.ts'
import { recordBytes, recordHeaders, recordText } from './core/capture.ts'
import { bytesOf } from './core/encoding.ts'
import { PosthornError } from './errors.ts'
import { lazy } from './runtime/lazy.ts'

function randomBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length))
}

const sealing = lazy(() => import('./core/aes-gcm.ts'))

/** Any runtime with the web's standards. Figures that those do not tell are 0. */
export const portablePlatform: Platform = {
  http: portableClient,
  hmac,
  randomBytes,
  cipher: async (key) => (await sealing()).aesGcm(key, randomBytes),
  vitals: () => ({
    version: globalThis.navigator?.userAgent ?? 'unknown',
    handles: 0,
    heapUsed: 0,
    heapTotal: 0,
    residentSet: 0,
    heapObjects: 0,
    collections: 0,
  }),
  batches: false,
}

/**
 * An HTTP client over `fetch`. It judges literal addresses and names, but not what a name resolves to: that is up to the
 * runtime, as are connections and TLS. Redirects are not followed; timeout and bounds are those of every client.
 * @throws PosthornError `validation` for rules that cannot be understood, and for a proxy.
 */
export function portableClient(rules: SendRules & { readonly proxy?: Proxy }): HttpClient {
  if (rules.proxy !== undefined) throw new PosthornError('validation', 'proxy: not available on this runtime')
  const judge = denyRules(rules)

  return {
    async send(request, options) {
      if (options.signal.aborted) return { kind: 'aborted', isUnsent: true }
      if (!URL.canParse(request.url)) return { kind: 'error', message: 'the url is not valid', unreachable: false }
      const verdict = judge.judgeHost(new URL(request.url).hostname)
      if (verdict.kind === 'denied') return { kind: 'denied', message: verdict.message }
      const over = new AbortController()
      const abort = (): void => over.abort()
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        abort()
      }, options.timeoutMs)
      options.signal.addEventListener('abort', abort)
      try {
        return await exchange(request, options, over)
      } catch (cause) {
        if (isLate) return { kind: 'timeout', message: `timed out after ${options.timeoutMs} ms waiting for headers` }
        if (options.signal.aborted) return { kind: 'aborted' }
        return { kind: 'error', message: failureMessage(cause), unreachable: true }
      } finally {
        clearTimeout(timer)
        options.signal.removeEventListener('abort', abort)
      }
    },
  }
}

/** `over` ends the request, and then the body of the answer. */
async function exchange(
  request: Outbound,
  { captureBytes, signal }: SendOptions,
  over: AbortController,
): Promise<Reply> {
  const { url, method, headers, body } = request
  const hasBody = body !== null && method !== 'GET' && method !== 'DELETE'
  const answer = await fetch(url, {
    method,
    headers,
    body: hasBody ? body : null,
    redirect: 'manual',
    signal: over.signal,
  })
  // Browsers hide what a redirect says.
  if (answer.status === 0) return { kind: 'error', message: 'a redirect was not followed', unreachable: false }
  const rest = setTimeout(() => over.abort(), restOfAnswerMs)
  const { bytes, broke } = await readAtMost(answer.body, captureBytes, over.signal)
  clearTimeout(rest)
  return {
    kind: 'response',
    status: answer.status,
    headers: recordHeaders([...answer.headers].flat(), { maxBytes: captureBytes }),
    body: recordBytes(bytes, captureBytes),
    ended: !broke || signal.aborted,
  }
}

/**
 * What comes of a body until it ends, breaks, is more than `maxBytes`, or the signal aborts: the status stands anyway.
 * `broke`: it neither ended nor reached `maxBytes`.
 */
async function readAtMost(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ readonly bytes: Uint8Array; readonly broke: boolean }> {
  let broke = false
  const chunks: Uint8Array[] = []
  let received = 0
  const reader = body?.getReader()
  const cancel = (): void => void reader?.cancel().catch(() => {})
  signal.addEventListener('abort', cancel) // some runtimes let a body go on after the request was aborted
  try {
    while (reader !== undefined && received <= maxBytes) {
      const { value, done } = await reader.read()
      if (done) {
        broke = signal.aborted // a canceled reader says that the body is done
        break
      }
      chunks.push(value)
      received += value.length
    }
  } catch {
    broke = true
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
  const bytes = new Uint8Array(received)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return { bytes, broke }
}

function failureMessage(cause: unknown): string {
  if (!(cause instanceof Error)) return 'the request failed'
  const inner = cause.cause instanceof Error && cause.cause.message !== '' ? cause.cause : cause
  return recordText(inner.message, 512)
}

const webHashes = { 'sha-1': 'SHA-1', 'sha-256': 'SHA-256', 'sha-512': 'SHA-512' } as const

// Importing a key takes longer than signing with it.
const keys = new LRUCache<string, Promise<CryptoKey>>({ max: 1000 })

async function hmac(hash: HashName, key: Uint8Array, given: Uint8Array | string): Promise<Uint8Array> {
  const data = typeof given === 'string' ? bytesOf(given) : new Uint8Array(given)
  if (hash === 'md5') return await md5Hmac(key, data)
  // Neither views of shared memory, which these types cannot rule out, nor empty keys are taken; HMAC pads with zeros.
  const bytes = key.length === 0 ? new Uint8Array(1) : new Uint8Array(key)
  const id = `${hash} ${Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')}`
  let known = keys.get(id)
  if (known === undefined) {
    known = crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: webHashes[hash] }, false, ['sign'])
    keys.set(id, known)
  }
  return new Uint8Array(await crypto.subtle.sign('HMAC', await known, data))
}

const oldHashes = lazy(() => Promise.all([import('@noble/hashes/hmac.js'), import('@noble/hashes/legacy.js')]))

/** The web's cryptography has no MD5, which an inbound plugin offers for old senders. */
async function md5Hmac(key: Uint8Array, data: Uint8Array): Promise<Uint8Array> {
  const [{ hmac }, { md5 }] = await oldHashes()
  return hmac(md5, key, data)
}
