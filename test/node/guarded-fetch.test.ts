import { describe, expect, test } from 'vitest'

import { createGuardedFetch } from '../../adapters/node/guarded-fetch.ts'
import { rawReceiver, receiver } from './receiver.ts'

const loopback = { allow: ['127.0.0.1'] }

describe('guarded fetch', () => {
  test('answers a Response with status, headers and bytes', async () => {
    const { url } = await receiver((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        response.writeHead(201, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] })
        response.end(
          JSON.stringify([request.method, request.headers['content-type'], Buffer.concat(chunks).toString()]),
        )
      })
    })
    const guardedFetch = createGuardedFetch(loopback)
    const response = await guardedFetch(url, {
      method: 'PUT',
      headers: { 'content-type': 'text/x' },
      body: new Uint8Array([104, 105]),
    })
    expect(response.status).toBe(201)
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(await response.json()).toEqual(['PUT', 'text/x', 'hi'])
    expect(await (await guardedFetch(new Request(url))).json()).toEqual(['GET', null, ''])
  })

  test('denies by default what is not public, with an error that programs can tell', async () => {
    const guardedFetch = createGuardedFetch()
    await expect(guardedFetch('http://127.0.0.1:1/')).rejects.toMatchObject({
      name: 'PosthornError',
      code: 'forbidden',
      message: 'address 127.0.0.1 is denied by @loopback',
    })
    await expect(guardedFetch(new URL('http://localhost/'))).rejects.toMatchObject({ code: 'forbidden' })
  })

  test('judges names by their addresses', async () => {
    const resolve = async () => [{ address: '10.0.0.1', family: 4 as const }]
    await expect(createGuardedFetch({ resolve })('http://inside.test/')).rejects.toMatchObject({
      code: 'forbidden',
      message: 'address 10.0.0.1 is denied by @private',
    })
  })

  test('follows no redirect, and answers statuses without a body', async () => {
    const { url } = await receiver((request, response) => {
      response.writeHead(request.url === '/204' ? 204 : 302, { location: 'http://169.254.169.254/' }).end()
    })
    const guardedFetch = createGuardedFetch(loopback)
    expect((await guardedFetch(url)).headers.get('location')).toBe('http://169.254.169.254/')
    expect((await guardedFetch(`${url}204`)).status).toBe(204)
  })

  test('rejects a body beyond its bound, one that breaks off, and none in time', async () => {
    const { url } = await receiver((_request, response) => void response.end('x'.repeat(101)))
    await expect(createGuardedFetch({ ...loopback, maxBytes: 100 })(url)).rejects.toMatchObject({ code: 'too_large' })
    expect(await (await createGuardedFetch({ ...loopback, maxBytes: 101 })(url)).text()).toHaveLength(101)

    const broken = await rawReceiver((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf')
        setTimeout(() => socket.resetAndDestroy(), 20)
      }),
    )
    await expect(createGuardedFetch(loopback)(broken.url)).rejects.toMatchObject({ code: 'unavailable' })

    const silent = await rawReceiver((socket) => void socket.resume())
    await expect(createGuardedFetch({ ...loopback, timeoutMs: 50 })(silent.url)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'timed out after 50 ms waiting for headers',
    })
  })

  test('ends by its signal, with the reason', async () => {
    const { url } = await rawReceiver((socket) => void socket.resume())
    const over = new AbortController()
    const reason = new Error('enough')
    setTimeout(() => over.abort(reason), 50)
    await expect(createGuardedFetch(loopback)(url, { signal: over.signal })).rejects.toBe(reason)
  })

  test('refuses rules that it does not understand', () => {
    expect(() => createGuardedFetch({ deny: ['10/8'] })).toThrow('"10/8" is not')
  })
})
