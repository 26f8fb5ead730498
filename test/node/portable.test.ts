import { onTestFinished, describe, expect, test } from 'vitest'

import type { SendOptions } from '../../src/contracts/http-client.ts'
import type { Outbound } from '../../src/contracts/request.ts'
import { portableClient, portablePlatform } from '../../src/portable.ts'
import { rawReceiver, receiver } from './receiver.ts'

const send = (
  url: string,
  { request, deny = [], ...rest }: Partial<SendOptions> & { request?: Partial<Outbound>; deny?: string[] } = {},
) =>
  portableClient({ deny, allow: [] }).send(
    { method: 'POST', url, headers: {}, body: '{}', ...request },
    { timeoutMs: 5000, signal: new AbortController().signal, captureBytes: 65_536, ...rest },
  )

describe('the portable client', () => {
  test('sends what it is given and records the answer', async () => {
    const { url } = await receiver((request, response) => {
      response.writeHead(202, { 'x-method': request.method, 'x-type': request.headers['content-type'] ?? '' })
      request.pipe(response)
    })
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    expect(await send(url, { request: { headers, body: '{"é":1}' } })).toMatchObject({
      kind: 'response',
      status: 202,
      headers: { 'x-method': 'POST', 'x-type': headers['content-type'] },
      body: '{"é":1}',
    })
    expect(await send(url, { request: { method: 'DELETE' } })).toMatchObject({ kind: 'response', body: '' })
  })

  test('follows no redirect', async () => {
    const { url } = await receiver((_request, response) => void response.writeHead(302, { location: '/x' }).end())
    expect(await send(url)).toMatchObject({ kind: 'response', status: 302, headers: { location: '/x' } })
  })

  test('denies literal addresses in any notation, and names that rules name', async () => {
    const deny = ['@default', '*.internal']
    for (const host of ['127.0.0.1', '0x7f.1', '[::ffff:10.0.0.1]', 'localhost', 'a.internal']) {
      expect((await send(`http://${host}/`, { deny })).kind).toBe('denied')
    }
  })

  test('times out, and keeps what came of a body that stalls', async () => {
    const silent = await rawReceiver((socket) => void socket.resume())
    expect(await send(silent.url, { timeoutMs: 100 })).toEqual({
      kind: 'timeout',
      message: 'timed out after 100 ms waiting for headers',
    })
    const stalling = await rawReceiver((socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\npart')),
    )
    expect(await send(stalling.url, { timeoutMs: 200 })).toMatchObject({
      kind: 'response',
      status: 200,
      body: 'part',
      ended: false,
    })
  })

  test.each([
    ['stalls', ['part']],
    ['drips', Array.from({ length: 100 }, () => 'x')],
  ])('gives the rest of an answer that %s one second, and closes the connection', async (_what, pieces) => {
    let isClosed = false
    const { url } = await rawReceiver((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')
        const timer = setInterval(() => pieces.length > 0 && socket.write(pieces.shift()!), 50)
        socket.on('close', () => {
          isClosed = true
          clearInterval(timer)
        })
      }),
    )
    const startedAt = performance.now()
    expect(await send(url, { timeoutMs: 30_000 })).toMatchObject({
      kind: 'response',
      status: 200,
      body: expect.stringMatching(/^(part|x{10,30})$/),
      ended: false,
    })
    expect(performance.now() - startedAt).toBeLessThan(1500)
    await expect.poll(() => isClosed).toBe(true)
  })

  test('tells an answer that ended in time from one that broke off', async () => {
    const late = await rawReceiver((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n')
        setTimeout(() => socket.write('late'), 600)
      }),
    )
    expect(await send(late.url)).toMatchObject({ kind: 'response', body: 'late', ended: true })
    const half = await rawReceiver((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf')),
    )
    expect(await send(half.url)).toMatchObject({ kind: 'response', status: 200, ended: false })
  })

  test('does not hold against the receiver that the signal ended it', async () => {
    const { url } = await rawReceiver((socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n')),
    )
    const over = new AbortController()
    setTimeout(() => over.abort(), 200)
    expect(await send(url, { signal: over.signal })).toMatchObject({ kind: 'response', ended: true })
  })

  test('stops reading at the bound', async () => {
    const { url } = await receiver((_request, response) => {
      const timer = setInterval(() => response.write('x'.repeat(10_000)), 1)
      onTestFinished(() => clearInterval(timer))
      response.on('close', () => clearInterval(timer))
    })
    expect(await send(url, { captureBytes: 100 })).toMatchObject({
      kind: 'response',
      body: 'x'.repeat(100),
      ended: true,
    })
  })

  test('ends by its signal, and says why a request failed', async () => {
    const silent = await rawReceiver((socket) => void socket.resume())
    const over = new AbortController()
    setTimeout(() => over.abort(), 50)
    expect(await send(silent.url, { signal: over.signal })).toEqual({ kind: 'aborted' })
    expect(await send(silent.url, { signal: AbortSignal.abort() })).toEqual({ kind: 'aborted', isUnsent: true })
    expect(await send('http://127.0.0.1:9/')).toMatchObject({ kind: 'error', unreachable: true })
    expect(await send('nonsense')).toMatchObject({ kind: 'error', message: 'the url is not valid' })
  })
})

describe('the portable platform', () => {
  test('tells nothing that it cannot know', () => {
    expect(portablePlatform.vitals()).toMatchObject({ handles: 0, heapUsed: 0, collections: 0 })
    expect(portablePlatform.batches).toBe(false)
  })
})
