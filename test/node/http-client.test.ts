import { describe, expect, test } from 'vitest'

import { expectKind, connectionKinds } from './client.ts'
import { rawReceiver, receiver } from './receiver.ts'

/** A receiver that answers what it got. */
const mirror = () =>
  receiver((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      response.setHeader('x-many', ['a', 'b'])
      const body = Buffer.concat(chunks).toString()
      response.end(JSON.stringify({ method: request.method, path: request.url, headers: request.headers, body }))
    })
  })

describe.each(connectionKinds)('over %s', (_wire, client) => {
  describe('a request', () => {
    test('arrives with its method, path, headers and body, and framing of its own', async () => {
      const { url, port } = await mirror()
      const headers = {
        'x-one': '1',
        host: 'evil.example',
        'content-length': '1',
        connection: 'close',
        'transfer-encoding': 'chunked',
        te: 'trailers',
        expect: '100-continue',
        'proxy-authorization': 'x',
      }
      const reply = expectKind(
        await client().send(`${url}in/box?a=1#part`, { request: { headers, body: '{"é":1}' } }),
        'response',
      )
      expect(reply.status).toBe(200)
      expect(reply.headers['x-many']).toBe('a, b')
      expect(JSON.parse(reply.body)).toEqual({
        method: 'POST',
        path: '/in/box?a=1',
        headers: { 'x-one': '1', host: `127.0.0.1:${port}`, 'content-length': '8', connection: 'keep-alive' },
        body: '{"é":1}',
      })
    })

    test.each(['GET', 'DELETE'])('of %s carries no body', async (method) => {
      const { url } = await mirror()
      const { body } = expectKind(await client().send(url, { request: { method, body: 'x' } }), 'response')
      expect(JSON.parse(body)).toMatchObject({ method, body: '' })
      expect(body).not.toContain('transfer-encoding')
    })

    test.each(['POST', 'PUT', 'PATCH'])('of %s without a body says that it is empty', async (method) => {
      const { url } = await mirror()
      const { body } = expectKind(await client().send(url, { request: { method, body: '' } }), 'response')
      expect(JSON.parse(body)).toMatchObject({ method, headers: { 'content-length': '0' }, body: '' })
    })

    test('goes to an IPv6 literal too', async () => {
      expect(await client({ deny: ['@default'], allow: ['::1'] }).send('http://[::1]:1/')).toMatchObject({
        kind: 'error',
        unreachable: true,
      })
    })

    test.each([
      ['ftp://example.com/', 'the url is neither http nor https'],
      ['nonsense', 'the url is not valid'],
      ['http://user:secret@example.com/', 'the url must not contain credentials'],
    ])('to %s is refused, and the message tells no secret', async (url, message) => {
      expect(await client().send(url)).toEqual({ kind: 'error', message, unreachable: false })
    })

    test.each([
      ['a header name', { 'x y': '1' }],
      ['a header value', { x: 'a\r\nb: c' }],
      ['text that no header holds', { x: '日本' }],
    ])('with %s that cannot be sent is refused', async (_what, headers) => {
      const { url } = await mirror()
      const reply = expectKind(await client().send(url, { request: { headers } }), 'error')
      expect(reply).toEqual({
        kind: 'error',
        message: 'a header holds characters that cannot be sent',
        unreachable: false,
      })
    })

    test('to a port where nothing listens says so in words', async () => {
      expect(await client().send('http://127.0.0.1:1/')).toEqual({
        kind: 'error',
        message: 'connect ECONNREFUSED 127.0.0.1:1',
        unreachable: true,
      })
    })
  })

  describe('an answer', () => {
    test('is recorded as text: headers in UTF-8 as they are, bytes that are none replaced', async () => {
      const { url } = await rawReceiver((socket) =>
        socket.once('data', () => {
          socket.write(
            'HTTP/1.1 200 OK\r\nx-name: Jürgen\r\nset-cookie: a=1\r\nset-cookie: b=2\r\ncontent-length: 3\r\n\r\n',
          )
          socket.write(Buffer.of(0x61, 0xff, 0x00))
        }),
      )
      expect(await client().send(url)).toEqual({
        kind: 'response',
        status: 200,
        headers: expect.objectContaining({ 'x-name': 'Jürgen', 'set-cookie': 'a=1, b=2', 'content-length': '3' }),
        body: 'a\uFFFD\uFFFD',
        ended: true,
      })
    })

    test.each([204, 304, 404, 410, 500])('with status %i is a response', async (status) => {
      const { url } = await receiver((_request, response) => void response.writeHead(status).end())
      expect(await client().send(url)).toMatchObject({ kind: 'response', status, body: '' })
    })

    test('is kept whole when it is just as long as the bound', async () => {
      const { url } = await receiver((_request, response) => void response.end('x'.repeat(100)))
      expect(await client().send(url, { captureBytes: 100 })).toMatchObject({ body: 'x'.repeat(100) })
      expect(await client().send(url, { captureBytes: 0 })).toMatchObject({ kind: 'response', status: 200, body: '' })
    })

    test('may come in chunks and before the request was read', async () => {
      const { url } = await rawReceiver((socket) =>
        socket.once('data', () =>
          socket.end('HTTP/1.1 413 Too Large\r\ntransfer-encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n'),
        ),
      )
      const body = 'x'.repeat(1_000_000)
      expect(await client().send(url, { request: { body } })).toMatchObject({
        kind: 'response',
        status: 413,
        body: 'no',
      })
    })
  })
})
