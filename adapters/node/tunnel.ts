import http from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import tls from 'node:tls'

import type { Proxy, ProxyTls } from '../../src/contracts/platform.ts'
import type { DenyRules } from '../../src/core/deny-rules.ts'
import { PosthornError } from '../../src/errors.ts'
import { Failure } from './failure.ts'
import { type Resolve, permittedAddresses } from './lookup.ts'
import type { Call, TlsOptions } from './connection.ts'

/** Makes a connection to a target through a proxy. */
export type Tunnel = {
  (call: Pick<Call, 'target' | 'timeoutMs'>, done: (error: Error | null, socket: Duplex) => void): void
}

/**
 * Tunnels through a forward proxy by CONNECT. The target is judged here, and the proxy gets an address that passed, so
 * that the proxy cannot find another address for the name. Without any deny rule the proxy gets the name. `tls` is for
 * receivers.
 * @throws PosthornError `validation` for a url that is not a proxy's, for TLS settings that cannot be used, and on Bun,
 *   whose `node:http` dials by itself.
 */
export function proxyTunnel({
  proxy,
  tls: tlsOptions,
  resolve,
  judge,
}: {
  readonly proxy: Proxy
  readonly tls: TlsOptions
  readonly resolve: Resolve
  readonly judge: DenyRules
}): Tunnel {
  const { url: address, tls: proxyTls } = typeof proxy === 'string' ? { url: proxy } : proxy
  if (!/^https?:\/\//.test(address) || !URL.canParse(address)) {
    throw new PosthornError('validation', 'proxy: value must be an http or https URL')
  }
  if (process.versions['bun'] !== undefined) {
    throw new PosthornError('validation', 'proxy: not available on Bun')
  }
  const url = new URL(address)
  const secure = secureSettings(url, proxyTls)
  const connect = url.protocol === 'https:' ? https.request : http.request
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  const authorization = credentials === ':' ? {} : { 'proxy-authorization': `Basic ${btoa(credentials)}` }

  const dial: ProxyDial = { connect, secure, url, authorization }

  /** The address of a target that the rules let pass; the name where no rule exists. */
  async function addressOf(host: string): Promise<string> {
    if (isIP(host) !== 0 || judge.permitsAll) return host
    const [found] = await permittedAddresses(host, resolve, judge)
    return found!.address // at least one
  }

  async function open(call: Pick<Call, 'target' | 'timeoutMs'>): Promise<Duplex> {
    const { target, timeoutMs } = call
    const socket = await connectThrough(dial, await addressOf(target.host), call)
    if (!target.secure) return socket
    const { servername } = target
    const over = tls.connect({ ...tlsOptions, socket, servername, host: target.host, minVersion: 'TLSv1.2' })
    await handshake(over, timeoutMs)
    return over
  }

  return (call, done) => {
    open(call).then(
      (socket) => done(null, socket),
      (cause: Error) => done(cause, undefined as unknown as Duplex), // no socket comes with an error
    )
  }
}

/** How the proxy is reached. */
interface ProxyDial {
  readonly connect: typeof http.request
  readonly secure: tls.ConnectionOptions
  readonly url: URL
  readonly authorization: Readonly<Record<string, string>>
}

/** Asks the proxy for a connection to an address. */
function connectThrough(
  { connect, secure, url, authorization }: ProxyDial,
  address: string,
  { target, timeoutMs }: Pick<Call, 'target' | 'timeoutMs'>,
): Promise<Duplex> {
  const authority = `${isIP(address) === 6 ? `[${address}]` : address}:${target.port}`
  return new Promise((settle, reject) => {
    const request = connect({
      ...secure,
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port === '' ? undefined : Number(url.port),
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...authorization },
      agent: false,
      timeout: timeoutMs,
    })
    request.once('connect', (answer, socket) => {
      if (answer.statusCode === 200) {
        socket.setTimeout(0)
        settle(socket)
        return
      }
      socket.destroy()
      reject(new Failure('EPROXY', `the proxy refused the connection with status ${answer.statusCode}`))
    })
    request.once('timeout', () => request.destroy(new Failure('ETIMEDOUT', 'the proxy did not answer in time')))
    request.once('response', (answer) => {
      answer.destroy()
      reject(new Failure('EPROXY', `the proxy refused the connection with status ${answer.statusCode}`))
    })
    request.once('error', reject)
    request.end()
  })
}

/** The settings of TLS with the proxy. A certificate or key that cannot be read is refused now, not with every delivery. */
function secureSettings(url: URL, given: ProxyTls | undefined): tls.ConnectionOptions {
  if (url.protocol !== 'https:') {
    if (given === undefined) return {}
    throw new PosthornError('validation', 'proxy: tls is for a proxy whose url is https')
  }
  const { ca, ...rest } = given ?? {}
  try {
    const secureContext = tls.createSecureContext({
      ...rest,
      ...(ca === undefined ? {} : { ca: typeof ca === 'string' ? ca : [...ca] }),
      minVersion: 'TLSv1.2',
    })
    return { secureContext, rejectUnauthorized: rest.rejectUnauthorized ?? true }
  } catch {
    // What OpenSSL says of the material names none of the settings.
    throw new PosthornError('validation', 'proxy: tls: ca, cert and key must be certificates and a key in PEM that fit')
  }
}

function handshake(socket: tls.TLSSocket, timeoutMs: number): Promise<void> {
  return new Promise((done, reject) => {
    socket.setTimeout(timeoutMs, () => socket.destroy(new Failure('ETIMEDOUT', 'the TLS handshake took too long')))
    socket.once('secureConnect', () => {
      socket.setTimeout(0)
      socket.removeAllListeners('timeout')
      socket.off('error', reject)
      done()
    })
    socket.once('error', reject)
  })
}
