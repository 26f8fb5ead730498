import type { SendRules } from '../../src/contracts/platform.ts'
import { PosthornError } from '../../src/errors.ts'
import { defaultTimeoutMs } from '../../src/schema/endpoint.ts'
import { cancelableBy } from './abort.ts'
import { type GuardedOptions, guarded } from './http-client.ts'

export interface GuardedFetchOptions extends Partial<SendRules>, Pick<GuardedOptions, 'proxy' | 'tls' | 'resolve'> {
  /** Over the whole exchange, milliseconds. Default 10,000. */
  readonly timeoutMs?: number
  /** The most bytes of a body; a longer body is an error. Default 1 MiB. */
  readonly maxBytes?: number
}

/**
 * A `fetch` for urls that others typed: it connects to no address that `deny` lists (default `['@default']`), however
 * the name resolves, and follows no redirect: a 3xx is the answer. The body has come whole when the promise resolves.
 *
 * It rejects with a {@link PosthornError}: `forbidden` for a denied address, `too_large` for a body beyond `maxBytes`,
 * `unavailable` when no answer came (the message says why) or not all of it; and with the signal's reason when that aborts.
 * @throws PosthornError `validation` for rules or a proxy that cannot be understood.
 * @example
 * const safeFetch = createGuardedFetch({ timeoutMs: 5000 })
 * const answer = await safeFetch(urlOfAStranger)
 */
export function createGuardedFetch(
  options: GuardedFetchOptions = {},
): (input: string | URL | Request, init?: RequestInit) => Promise<Response> {
  const { deny = ['@default'], allow = [], timeoutMs = defaultTimeoutMs, maxBytes = 1024 * 1024, ...rest } = options
  const client = guarded({ deny, allow, ...rest })

  return async (input, init) => {
    const request = new Request(input, init)
    const { method, url, headers, signal } = request
    const body = request.body === null ? null : new Uint8Array(await request.arrayBuffer())
    const ending = await client.request(url, {
      method,
      headers: Object.fromEntries(headersOf(headers)),
      body,
      timeoutMs,
      workspace: null,
      restMs: timeoutMs,
      until: cancelableBy(signal),
      maxBytes,
    })
    switch (ending.kind) {
      case 'denied':
        throw new PosthornError('forbidden', ending.message)
      case 'aborted':
        throw signal.reason
      case 'timeout':
      case 'busy':
      case 'error':
        throw new PosthornError('unavailable', ending.message)
      case 'response':
        if (ending.body.length > maxBytes) {
          throw new PosthornError('too_large', `the body of the answer is larger than ${maxBytes} bytes`)
        }
        if (!ending.whole) throw new PosthornError('unavailable', 'the answer broke off before its end')
        return responseOf(ending.status, ending.head.raw, ending.body)
    }
  }
}

/** Nothing is decompressed here, so nothing compressed is asked for. */
function headersOf(headers: Headers): Headers {
  const asked = new Headers(headers)
  asked.set('accept-encoding', 'identity')
  if (!asked.has('accept')) asked.set('accept', '*/*')
  return asked
}

function responseOf(status: number, rawHeaders: readonly string[], body: Uint8Array): Response {
  const headers = new Headers()
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!)
  const hasBody = status !== 204 && status !== 205 && status !== 304
  return new Response(hasBody ? new Uint8Array(body) : null, { status, headers })
}
