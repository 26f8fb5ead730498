import http from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import tls from 'node:tls'

import type { AddressJudge } from '../../src/core/address.ts'
import { PosthornError } from '../../src/errors.ts'
import { Failure } from './failure.ts'
import { type Resolve, permittedAddresses } from './lookup.ts'
import type { Call, TlsOptions } from './wire.ts'

/** Makes a connection to a target through a proxy. */
export type Tunnel = {
  (call: Pick<Call, 'target' | 'timeoutMs'>, done: (error: Error | null, socket: Duplex) => void): void
}

/**
 * Tunnels through a forward proxy by CONNECT. The target is judged here and the proxy is given an address that passed, so
 * that it cannot find another one for the name; without any deny rule it is given the name.
 * @throws PosthornError `validation` for a url that is not a proxy's, and on Bun, whose `node:http` dials by itself.
 */
export function proxyTunnel({
  proxy,
  tls: tlsOptions,
  resolve,
  judge,
}: {
  readonly proxy: string
  readonly tls: TlsOptions
  readonly resolve: Resolve
  readonly judge: AddressJudge
}): Tunnel {
  if (!/^https?:\/\//.test(proxy) || !URL.canParse(proxy)) {
    throw new PosthornError('validation', 'proxy: value must be an http or https URL')
  }
  if (process.versions['bun'] !== undefined) {
    throw new PosthornError('validation', 'proxy: not available on Bun')
  }
  const url = new URL(proxy)
  const connect = url.protocol === 'https:' ? https.request : http.request
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  const authorization = credentials === ':' ? {} : { 'proxy-authorization': `Basic ${btoa(credentials)}` }

  async function addressOf(host: string): Promise<string> {
    if (isIP(host) !== 0 || judge.permitsAll) return host
    const [found] = await permittedAddresses(host, resolve, judge)
    return found!.address // at least one
  }

  function open(address: string, { target, timeoutMs }: Pick<Call, 'target' | 'timeoutMs'>): Promise<Duplex> {
    const authority = `${isIP(address) === 6 ? `[${address}]` : address}:${target.port}`
    return new Promise((settle, reject) => {
      const request = connect({
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

  return (dial, done) => {
    const { target } = dial
    addressOf(target.host)
      .then((address) => open(address, dial))
      .then(async (socket) => {
        if (target.secure) {
          const { servername } = target
          const over = tls.connect({ ...tlsOptions, socket, servername, host: target.host, minVersion: 'TLSv1.2' })
          await handshake(over, dial.timeoutMs)
          return over
        }
        return socket
      })
      .then(
        (socket) => done(null, socket),
        (cause: Error) => done(cause, undefined as unknown as Duplex), // with an error there is no socket
      )
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
