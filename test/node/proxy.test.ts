import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { connect } from 'node:net'

import { describe, expect, test } from 'vitest'

import type { Resolve } from '../../adapters/node/lookup.ts'
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

  test.each(['socks5://127.0.0.1:1', '127.0.0.1:1', 'http://'])('%j is refused as a proxy', (proxy) => {
    expect(() => client({ proxy })).toThrow('proxy: value must be an http or https URL')
  })
})
