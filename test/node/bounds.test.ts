import type { ServerResponse } from 'node:http'

import { beforeEach, describe, expect, test } from 'vitest'

import { maxConnectionsPerOrigin } from '../../adapters/node/bounds.ts'
import { type Waiter, semaphore } from '../../adapters/node/semaphore.ts'
import type { Resolve } from '../../adapters/node/lookup.ts'
import { connectionKinds } from './client.ts'
import { rawReceiver, receiver } from './receiver.ts'

describe.each(connectionKinds)('over %s', (_wire, client) => {
  describe('connections', () => {
    test('to one origin are bounded; the others wait and are served when it has answered', async () => {
      const open: ServerResponse[] = []
      let most = 0
      const { url, server } = await receiver((_request, response) => {
        open.push(response)
        most = Math.max(most, open.length)
      })
      let connections = 0
      server.on('connection', () => connections++)
      const { http, send } = client()
      const total = maxConnectionsPerOrigin + 50
      const replies = Array.from({ length: total }, () => send(url, { timeoutMs: 20_000 }))
      await expect.poll(() => open.length, { timeout: 10_000 }).toBe(maxConnectionsPerOrigin)
      expect(http.connections).toBe(maxConnectionsPerOrigin)
      let answered = 0
      while (answered < total) {
        for (const response of open.splice(0)) {
          answered++
          response.end()
        }
        await new Promise((next) => setImmediate(next))
      }
      for (const reply of await Promise.all(replies)) expect(reply.kind).toBe('response')
      expect(most).toBeLessThanOrEqual(maxConnectionsPerOrigin)
      expect(connections).toBe(maxConnectionsPerOrigin)
    })

    test('are shared by workspace: who finds none in time is busy, was not sent, and is not sent later', async () => {
      const { url, sockets } = await rawReceiver((socket) => void socket.resume())
      const other = await receiver((_request, response) => void response.end())
      const { send } = client()
      const held = Array.from({ length: maxConnectionsPerOrigin }, () =>
        send(url, { timeoutMs: 2000, workspaceId: 'greedy' }),
      )
      // Three quarters of the places are its share.
      await expect.poll(() => sockets.size).toBe((3 * maxConnectionsPerOrigin) / 4)
      expect(await send(url, { timeoutMs: 100, workspaceId: 'greedy' })).toEqual({
        kind: 'busy',
        message: 'no connection was free in time',
      })
      const quiet = send(url, { timeoutMs: 300, workspaceId: 'quiet' })
      expect(await send(other.url, { workspaceId: 'greedy' })).toMatchObject({ kind: 'response' })
      expect(await quiet).toEqual({ kind: 'timeout', message: 'timed out after 300 ms waiting for headers' })
      const kinds = (await Promise.all(held)).map(({ kind }) => kind)
      expect(new Set(kinds)).toEqual(new Set(['timeout', 'busy']))
      await expect.poll(() => sockets.size).toBe(0)
    })

    test('the wait for one counts against the timeout of the host itself, and not of a workspace', async () => {
      const { url } = await rawReceiver((socket) => void socket.resume())
      const { send } = client()
      const held = Array.from({ length: maxConnectionsPerOrigin }, () => send(url, { timeoutMs: 600 }))
      const from = performance.now()
      const late = send(url, { timeoutMs: 1000, workspaceId: 'w' })
      expect(await send(url, { timeoutMs: 100 })).toEqual({ kind: 'busy', message: 'no connection was free in time' })
      await Promise.all(held)
      expect(await late).toEqual({ kind: 'timeout', message: 'timed out after 1000 ms waiting for headers' })
      expect(performance.now() - from).toBeGreaterThan(1500)
    })

    test('that came to nothing are not counted', async () => {
      const { port } = await rawReceiver((socket) => void socket.resume())
      const resolve: Resolve = async (name) => {
        if (name === 'missing.test') throw new Error('no')
        if (name === 'slow.test') await new Promise((later) => setTimeout(later, 300))
        return [{ address: name === 'denied.test' ? '10.0.0.1' : '127.0.0.1', family: 4 }]
      }
      const { http, send } = client({ deny: ['10.0.0.0/8'], resolve })
      const replies = await Promise.all([
        send('http://127.0.0.1:1/'),
        send('http://missing.test/'),
        send('http://denied.test/'),
        send('http://slow.test/', { timeoutMs: 50 }),
        send(`https://hook.test:${port}/`, { timeoutMs: 50 }),
        send(`http://hook.test:${port}/`, { request: { headers: { 'a b': 'c' } } }),
      ])
      expect(replies.map(({ kind }) => kind)).toEqual(['error', 'error', 'denied', 'timeout', 'timeout', 'error'])
      await expect.poll(() => http.connections).toBe(0)
      const broken = client({ tls: { ca: 'nonsense', cert: 'nonsense', key: 'nonsense' }, resolve })
      expect(await broken.send(`https://hook.test:${port}/`)).toMatchObject({ kind: 'error' })
      expect(broken.http.connections).toBe(0)
    })

    test('of a closed client are gone', async () => {
      const { url } = await receiver((_request, response) => void response.end())
      const { http, send } = client()
      await Promise.all([send(url), send(url)])
      expect(http.connections).toBe(2)
      await http.close?.()
      await expect.poll(() => http.connections).toBe(0)
      expect(await send(url)).toMatchObject({ kind: 'response' })
    })
  })

  describe('an aborted request', () => {
    test('that was not answered is aborted, and its connection closed', async () => {
      const { url, sockets } = await rawReceiver((socket) => void socket.resume())
      const over = new AbortController()
      const reply = client().send(url, { signal: over.signal })
      await expect.poll(() => sockets.size).toBe(1)
      over.abort()
      expect(await reply).toEqual({ kind: 'aborted' })
      await expect.poll(() => sockets.size).toBe(0)
    })

    test('whose status had come is a response', async () => {
      const { url } = await rawReceiver((socket) =>
        socket.once('data', () => socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 9\r\n\r\nso far')),
      )
      const over = new AbortController()
      const reply = client().send(url, { signal: over.signal })
      setTimeout(() => over.abort(), 100)
      expect(await reply).toMatchObject({ kind: 'response', status: 202, body: 'so far' })
    })

    test('that was aborted before is not made', async () => {
      const { url, server } = await receiver((_request, response) => void response.end())
      let connections = 0
      server.on('connection', () => connections++)
      expect(await client().send(url, { signal: AbortSignal.abort() })).toEqual({ kind: 'aborted', isUnsent: true })
      expect(connections).toBe(0)
    })

    test('is one of many that share a signal, which has one listener for all and none in the end', async () => {
      const { url } = await receiver((_request, response) => void response.end())
      const { signal } = new AbortController()
      let listeners = 0
      let most = 0
      const add = signal.addEventListener.bind(signal)
      const remove = signal.removeEventListener.bind(signal)
      signal.addEventListener = (...args: Parameters<typeof add>) => {
        most = Math.max(most, ++listeners)
        add(...args)
      }
      signal.removeEventListener = (...args: Parameters<typeof remove>) => {
        listeners--
        remove(...args)
      }
      const { send } = client()
      await Promise.all(Array.from({ length: 20 }, () => send(url, { signal })))
      expect([most, listeners]).toEqual([1, 0])
    })
  })
})

describe('a semaphore', () => {
  const entered: string[] = []
  const waiter = (name: string, workspace: string | null = null): Waiter => ({
    workspace,
    go: () => void entered.push(name),
  })
  beforeEach(() => void entered.splice(0))

  test('lets its limit in, and the others in the order they came', async () => {
    const places = semaphore(2)
    const waiters = ['1', '2', '3', '4'].map((name) => waiter(name))
    for (const each of waiters) places.acquire(each)
    expect(entered).toEqual(['1', '2'])
    places.release(waiters[0]!)
    places.release(waiters[1]!)
    await expect.poll(() => entered).toEqual(['1', '2', '3', '4'])
    places.release(waiters[2]!)
    places.release(waiters[3]!)
    expect(places.inUse).toBe(0)
  })

  test('forgets who gave up, and counts right when the last of them did', async () => {
    const places = semaphore(1)
    const [first, impatient, second] = [waiter('first'), waiter('impatient'), waiter('second')]
    places.acquire(first)
    places.acquire(impatient)
    places.release(first)
    expect(places.cancel(impatient)).toBe(true)
    await expect.poll(() => places.inUse).toBe(0)
    places.acquire(second)
    expect(entered).toEqual(['first', 'second'])
    expect(places.cancel(impatient)).toBe(false)
  })

  test('leaves a quarter to others, who find room at once; the workspaces that wait take turns', async () => {
    const places = semaphore(16)
    const greedy = Array.from({ length: 30 }, (_, i) => waiter(`greedy ${i}`, 'greedy'))
    for (const each of greedy) places.acquire(each)
    expect(places.inUse).toBe(12)
    const others = Array.from({ length: 6 }, (_, i) => waiter(`other ${i}`, 'other'))
    for (const each of others) places.acquire(each)
    expect(entered.filter((name) => name.startsWith('other'))).toHaveLength(3)
    // The host itself has no share: it waits only when all is full.
    places.acquire(waiter('host'))
    expect(places.inUse).toBe(16)
    entered.splice(0)
    for (const each of greedy.slice(0, 5)) places.release(each)
    await expect.poll(() => entered).toEqual(['other 3', 'other 4', 'other 5'])
    expect(places.inUse).toBe(14)
    places.release(others[0]!)
    await expect.poll(() => entered.slice(3)).toEqual(['greedy 12'])
    expect(places.inUse).toBe(14)
  })
})
