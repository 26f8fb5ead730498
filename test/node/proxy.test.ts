import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer, type ServerOptions } from 'node:https'
import { connect } from 'node:net'
import type { TLSSocket } from 'node:tls'

import { describe, expect, test } from 'vitest'

import type { GuardedOptions } from '../../adapters/node/http-client.ts'
import { createPosthorn } from '../../adapters/node/index.ts'
import type { Resolve } from '../../adapters/node/lookup.ts'
import { createPosthorn as portable } from '../../src/index.ts'
import { client } from './client.ts'
import { listen, rawReceiver, receiver } from './receiver.ts'

const pem = (name: string): string => readFileSync(new URL(`certificates/${name}`, import.meta.url), 'utf8')
const resolve: Resolve = async () => [{ address: '127.0.0.1', family: 4 }]

/** A proxy that connects everyone to 127.0.0.1 and remembers what it was asked for. */
async function proxyServer(): Promise<{ proxy: string; asked: string[]; authorizations: (string | undefined)[] }> {
  const asked: string[] = []
  const authorizations: (string | undefined)[] = []
  const server = createHttpServer()
  server.on('connect', (request, socket) => {
    asked.push(request.url!)
    authorizations.push(request.headers['proxy-authorization'])
    if (request.headers['proxy-authorization'] === undefined) {
      return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n')
    }
    const upstream = connect(Number(/:(\d+)$/.exec(request.url!)![1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(socket).pipe(upstream)
    })
    upstream.on('error', () => socket.destroy())
    socket.on('error', () => upstream.destroy())
    return undefined
  })
  const port = await listen(server)
  return { proxy: `http://user:p%40ss@127.0.0.1:${port}`, asked, authorizations }
}

describe('through a proxy', () => {
  test('a request reaches its receiver over a tunnel to the address that was judged, and the tunnel is kept', async () => {
    const { port } = await receiver((request, response) => void response.end(request.headers.host))
    const { proxy, asked, authorizations } = await proxyServer()
    const { http, send } = client({ deny: ['10.0.0.0/8'], proxy, resolve })
    expect(await send(`http://hook.test:${port}/`)).toMatchObject({ kind: 'response', body: `hook.test:${port}` })
    expect(await send(`http://hook.test:${port}/`)).toMatchObject({ kind: 'response' })
    expect(asked).toEqual([`127.0.0.1:${port}`])
    expect(authorizations).toEqual([`Basic ${btoa('user:p@ss')}`])
    expect(http.connections).toBe(1)
  })

  test('TLS is spoken with the receiver, not with the proxy', async () => {
    const server = createHttpsServer({ cert: pem('receiver.pem'), key: pem('receiver.key') }, (_request, response) => {
      response.end('secret')
    })
    const port = await listen(server)
    const { proxy } = await proxyServer()
    const tls = { ca: pem('ca.pem') }
    const { send } = client({ deny: ['10.0.0.0/8'], proxy, tls, resolve })
    expect(await send(`https://hook.test:${port}/`)).toMatchObject({ kind: 'response', body: 'secret' })
    expect(await send(`https://other.test:${port}/`)).toMatchObject({
      kind: 'error',
      message: expect.stringContaining('altnames'),
      unreachable: true,
    })
  })

  test('the deny list is judged on the target before the proxy hears of it', async () => {
    const { proxy, asked } = await proxyServer()
    const { send } = client({ deny: ['@default'], proxy, resolve })
    expect(await send('http://169.254.169.254/')).toMatchObject({ kind: 'denied' })
    expect(await send('http://hook.test/')).toEqual({
      kind: 'denied',
      message: 'address 127.0.0.1 is denied by @loopback',
    })
    expect(asked).toEqual([])
  })

  test('without rules the proxy looks names up', async () => {
    const { port } = await receiver((_request, response) => void response.end())
    const { proxy, asked } = await proxyServer()
    const { send } = client({ proxy })
    expect(await send(`http://only-the-proxy-knows.test:${port}/`)).toMatchObject({ kind: 'response' })
    expect(asked).toEqual([`only-the-proxy-knows.test:${port}`])
  })

  test('a refusal, a silent proxy and none at all are told apart, without its credentials', async () => {
    const { proxy } = await proxyServer()
    const refused = client({ proxy: proxy.replace('user:p%40ss@', ''), resolve })
    expect(await refused.send('http://hook.test/')).toEqual({
      kind: 'error',
      message: 'the proxy refused the connection with status 407',
      unreachable: true,
    })
    const { url } = await rawReceiver((socket) => void socket.resume())
    expect(await client({ proxy: url, resolve }).send('http://hook.test/', { timeoutMs: 200 })).toMatchObject({
      kind: 'timeout',
    })
    expect(await client({ proxy: 'http://user:secret@127.0.0.1:1', resolve }).send('http://hook.test/')).toEqual({
      kind: 'error',
      message: 'connect ECONNREFUSED 127.0.0.1:1',
      unreachable: true,
    })
  })

  describe('that speaks TLS', () => {
    /** Such a proxy, which may ask for a client certificate. Answers the names on the certificates that it was shown. */
    async function secureProxy(options: ServerOptions = {}) {
      const shown: unknown[] = []
      const server = createHttpsServer({ cert: pem('receiver.pem'), key: pem('receiver.key'), ...options })
      server.on('connect', (request, socket) => {
        shown.push((socket as TLSSocket).getPeerCertificate().subject?.CN)
        const upstream = connect(Number(/:(\d+)$/.exec(request.url!)![1]), '127.0.0.1', () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n')
          upstream.pipe(socket).pipe(upstream)
        })
        upstream.on('error', () => socket.destroy())
        socket.on('error', () => upstream.destroy())
      })
      return { url: `https://127.0.0.1:${await listen(server)}`, shown }
    }
    const ca = pem('ca.pem')

    test('is trusted by its own authority, whatever receivers are trusted by', async () => {
      const { port } = await receiver((_request, response) => void response.end('through'))
      const { url } = await secureProxy()
      const through = (proxy: GuardedOptions['proxy']) =>
        client({ proxy: proxy!, resolve }).send(`http://hook.test:${port}/`)
      expect(await through({ url, tls: { ca } })).toMatchObject({ kind: 'response', body: 'through' })
      expect(await through({ url, tls: { ca: [ca] } })).toMatchObject({ kind: 'response' })
      for (const proxy of [url, { url }, { url, tls: {} }]) {
        expect(await through(proxy)).toMatchObject({
          kind: 'error',
          message: expect.stringMatching(/unable to verify|self.signed/),
          unreachable: true,
        })
      }
      const ofReceivers = client({ proxy: url, tls: { ca }, resolve })
      expect(await ofReceivers.send(`http://hook.test:${port}/`)).toMatchObject({ kind: 'error' })
    })

    test('is not verified with rejectUnauthorized: false, and receivers still are', async () => {
      const { port } = await receiver((_request, response) => void response.end('through'))
      const { url } = await secureProxy({ cert: pem('expired.pem'), key: pem('expired.key') })
      const proxy = { url, tls: { rejectUnauthorized: false } }
      expect(await client({ proxy, resolve }).send(`http://hook.test:${port}/`)).toMatchObject({ body: 'through' })
      const strict = client({ proxy: { url, tls: { ca, rejectUnauthorized: true } }, resolve })
      expect(await strict.send(`http://hook.test:${port}/`)).toMatchObject({ message: 'certificate has expired' })
      const server = createHttpsServer({ cert: pem('receiver.pem'), key: pem('receiver.key') })
      const secure = await listen(server)
      expect(await client({ proxy, resolve }).send(`https://hook.test:${secure}/`)).toMatchObject({
        kind: 'error',
        message: expect.stringMatching(/unable to verify|self.signed/),
      })
    })

    test('is shown a client certificate', async () => {
      const { port } = await receiver((_request, response) => void response.end())
      const { url, shown } = await secureProxy({ ca, requestCert: true, rejectUnauthorized: true })
      const key = pem('client.key')
      const known = client({ proxy: { url, tls: { ca, cert: pem('client.pem'), key } }, resolve })
      expect(await known.send(`http://hook.test:${port}/`)).toMatchObject({ kind: 'response' })
      expect(shown).toEqual(['client'])
      const unknown = client({ proxy: { url, tls: { ca } }, resolve })
      expect(await unknown.send(`http://hook.test:${port}/`)).toMatchObject({ kind: 'error' })
    })

    test('needs settings that can be used: what is wrong is told at once, without the key', () => {
      const url = 'https://127.0.0.1:1'
      const message = 'proxy: tls: ca, cert and key must be certificates and a key in PEM that fit'
      for (const tls of [{ ca: 'x', cert: pem('client.pem'), key: 'secret' }, { cert: 'x' }, { key: 'secret' }]) {
        expect(() => client({ proxy: { url, tls } })).toThrow(message)
      }
      expect(() => client({ proxy: { url: 'http://127.0.0.1:1', tls: {} } })).toThrow(
        'proxy: tls is for a proxy whose url is https',
      )
    })

    test('is an option of deliveries', async () => {
      const { port } = await receiver((_request, response) => void response.end('through'))
      const { url, shown } = await secureProxy()
      const posthorn = createPosthorn({ deliver: { allow: ['@loopback'], proxy: { url, tls: { ca } } } })
      const request = { url: `http://127.0.0.1:${port}/` }
      const { id } = await posthorn.endpoints.create('default', { request })
      expect((await posthorn.endpoints.test('default', id)).response).toMatchObject({ status: 200, body: 'through' })
      expect(shown).toHaveLength(1)
      const fields = (proxy: unknown) => {
        try {
          createPosthorn({ deliver: { proxy: proxy as string } })
        } catch (error) {
          return (error as Error).message
        }
        return null
      }
      expect(fields('socks5://user:secret@x')).toBe('createPosthorn: deliver.proxy: value must be an http or https URL')
      expect(fields({ url, tls: { ca: 5, pfx: 'x' } })).toBe(
        'createPosthorn: deliver.proxy.tls.ca: value must be a string; deliver.proxy.tls.pfx: property is unsupported',
      )
      expect(fields({ url, tls: { cert: 'secret' } })).toMatch(/^proxy: tls: ca, cert and key must be/)
      expect(() => portable({ deliver: { proxy: url } })).toThrow('proxy: not available on this runtime')
    })
  })

  test.each(['socks5://127.0.0.1:1', '127.0.0.1:1', 'http://'])('%j is refused as a proxy', (proxy) => {
    expect(() => client({ proxy })).toThrow('proxy: value must be an http or https URL')
  })
})
