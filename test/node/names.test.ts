import { describe, expect, test } from 'vitest'

import { type Resolve, rememberNames, resolveNames } from '../../adapters/node/lookup.ts'
import { expectKind, connectionKinds } from './client.ts'
import { type Answer, dnsServer } from './dns-server.ts'
import { rawReceiver, receiver } from './receiver.ts'

/** A receiver that counts connections, on every loopback address of IPv4. */
async function counted() {
  const seen = { connections: 0 }
  const { port, server } = await receiver((_request, response) => void response.end('reached'))
  server.on('connection', () => seen.connections++)
  return { port, seen }
}

describe.each(connectionKinds)('over %s', (_wire, client) => {
  describe('the deny list', () => {
    test('is judged on literal addresses in any notation, before anything is dialled', async () => {
      const { port, seen } = await counted()
      const { send } = client({ deny: ['@default'] })
      for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '127.1', '[::ffff:127.0.0.1]', '[::1]']) {
        expectKind(await send(`http://${host}:${port}/`), 'denied')
      }
      expect(seen.connections).toBe(0)
    })

    test('says which address and which rule', async () => {
      const { send } = client({ deny: ['@default'] })
      expect(await send('http://169.254.169.254/latest/meta-data')).toEqual({
        kind: 'denied',
        message: 'address 169.254.169.254 is denied by @linklocal',
      })
    })

    test('refuses localhost by name, with and without the dot', async () => {
      const { port, seen } = await counted()
      const { send } = client({ deny: ['@default'] })
      expectKind(await send(`http://localhost:${port}/`), 'denied')
      expectKind(await send(`http://localhost.:${port}/`), 'denied')
      expect(seen.connections).toBe(0)
    })

    test('is judged on the address that a name has at the moment of connecting: rebinding reaches nothing', async () => {
      const { port, seen } = await counted()
      let asked = 0
      // The public address first, whoever looks before connecting; the loopback from then on.
      const { server } = await dnsServer(() => ({ 4: [asked++ === 0 ? '93.184.215.14' : '127.0.0.1'] }))
      const resolve = resolveNames({ servers: [server] })
      expect(await resolve('rebind.test')).toEqual([{ address: '93.184.215.14', family: 4 }])
      const { send } = client({ deny: ['@default'], resolve })
      expect(await send(`http://rebind.test:${port}/`)).toEqual({
        kind: 'denied',
        message: 'address 127.0.0.1 is denied by @loopback',
      })
      expect(seen.connections).toBe(0)
    })

    test('a name with one good and one bad address is dialled on the good one only, in any order', async () => {
      const bad = await counted()
      const { port, seen } = bad
      for (const addresses of [
        ['127.0.0.1', '127.0.0.2'],
        ['127.0.0.2', '127.0.0.1'],
      ]) {
        const resolve: Resolve = async () => addresses.map((address) => ({ address, family: 4 }))
        const { send } = client({ deny: ['127.0.0.1'], resolve })
        const reply = expectKind(await send(`http://both.test:${port}/`), 'error')
        expect(reply.message).toBe(`connect ECONNREFUSED 127.0.0.2:${port}`)
      }
      expect(seen.connections).toBe(0)
    })

    test('an IPv6 answer that holds a denied IPv4 address is denied', async () => {
      const { server } = await dnsServer(() => ({ 6: ['64:ff9b::7f00:1', '::ffff:7f00:1', '2002:7f00:1::'] }))
      const { send } = client({ deny: ['@default'], resolve: resolveNames({ servers: [server] }) })
      expect(await send('http://six.test/')).toMatchObject({
        kind: 'denied',
        message: expect.stringMatching(/denied by @loopback$/),
      })
    })

    test('an allowed name may have any address, an allowed address any name', async () => {
      const { port } = await counted()
      const resolve: Resolve = async () => [{ address: '127.0.0.1', family: 4 }]
      const byName = client({ deny: ['@default'], allow: ['inside.test'], resolve })
      expect(await byName.send(`http://inside.test:${port}/`)).toMatchObject({ kind: 'response', body: 'reached' })
      expect(await byName.send(`http://other.test:${port}/`)).toMatchObject({ kind: 'denied' })
      const byAddress = client({ deny: ['@default'], allow: ['127.0.0.0/8'], resolve })
      expect(await byAddress.send(`http://other.test:${port}/`)).toMatchObject({ kind: 'response' })
      expect(await byAddress.send(`http://localhost:${port}/`)).toMatchObject({ kind: 'response' })
    })

    test('a redirect to a denied address is only an answer', async () => {
      const { port, seen } = await counted()
      const first = await receiver((_request, response) => {
        response.writeHead(302, { location: `http://127.0.0.2:${port}/` }).end()
      })
      const { send } = client({ deny: ['127.0.0.2'] })
      expect(await send(first.url)).toMatchObject({ kind: 'response', status: 302 })
      expect(seen.connections).toBe(0)
    })
  })

  describe('names', () => {
    const resolver = async (answer: (name: string) => Answer) => {
      const { server, asked } = await dnsServer(answer)
      return { resolve: resolveNames({ servers: [server] }), asked }
    }

    test('have the addresses of both families, IPv4 first', async () => {
      const { resolve } = await resolver(() => ({ 4: ['192.0.2.1', '192.0.2.2'], 6: ['2001:db8::1'] }))
      expect(await resolve('both.test')).toEqual([
        { address: '192.0.2.1', family: 4 },
        { address: '192.0.2.2', family: 4 },
        { address: '2001:db8::1', family: 6 },
      ])
    })

    test('with one family only are found at once', async () => {
      const { resolve } = await resolver((name) =>
        name === 'six.test' ? { 6: ['2001:db8::1'] } : { 4: ['192.0.2.1'] },
      )
      expect(await resolve('six.test')).toEqual([{ address: '2001:db8::1', family: 6 }])
      expect(await resolve('four.test.')).toEqual([{ address: '192.0.2.1', family: 4 }])
    })

    test('that do not exist are an error that says so', async () => {
      const { resolve } = await resolver(() => 'none')
      const { send } = client({ resolve })
      expect(await send('http://missing.test/')).toEqual({
        kind: 'error',
        message: 'lookup of missing.test found no address',
        unreachable: true,
      })
    })

    test('of a silent server cost the timeout of the request, and the message says where it waited', async () => {
      const { resolve } = await resolver(() => 'silence')
      const { send } = client({ resolve })
      expect(await send('http://slow.test/', { timeoutMs: 300 })).toEqual({
        kind: 'timeout',
        message: 'timed out after 300 ms waiting for the lookup of slow.test',
      })
    })

    test('that are slow hold no thread: another name, a file and a key are not delayed', async () => {
      const { resolve } = await resolver((name) => (name === 'good.test' ? { 4: ['127.0.0.1'] } : 'silence'))
      const { port } = await counted()
      const { send } = client({ resolve })
      const slow = Array.from({ length: 50 }, (_, i) => send(`http://dead${i}.test/`, { timeoutMs: 500 }))
      const startedAt = performance.now()
      await crypto.subtle.digest('SHA-256', new Uint8Array(10))
      expect(await send(`http://good.test:${port}/`)).toMatchObject({ kind: 'response' })
      expect(performance.now() - startedAt).toBeLessThan(400)
      for (const reply of await Promise.all(slow)) expect(reply.kind).toBe('timeout')
    })

    test('of the hosts file and of this machine are known without a server', async () => {
      const { resolve, asked } = await resolver(() => 'silence')
      expect(await resolve('localhost')).toContainEqual({ address: '127.0.0.1', family: 4 })
      expect(await resolve('api.localhost')).toContainEqual({ address: '127.0.0.1', family: 4 })
      expect(asked).toEqual([])
    })

    test('are asked once by those who ask at the same time, and remembered: answers and failures', async () => {
      let asked = 0
      const resolve = rememberNames(async (name) => {
        asked++
        if (name === 'bad.test') throw new Error('no')
        return [{ address: '192.0.2.1', family: 4 }]
      })
      await Promise.all([resolve('good.test'), resolve('good.test')])
      await resolve('good.test')
      expect(asked).toBe(1)
      await expect(resolve('bad.test')).rejects.toThrow('no')
      await expect(resolve('bad.test')).rejects.toThrow('no')
      expect(asked).toBe(2)
    })

    test('share one lookup over many requests', async () => {
      const { resolve, asked } = await resolver(() => ({ 4: ['127.0.0.1'] }))
      const { port } = await rawReceiver((socket) =>
        socket.once('data', () => socket.end('HTTP/1.1 204 No\r\nconnection: close\r\n\r\n')),
      )
      const { send } = client({ resolve })
      await Promise.all(Array.from({ length: 20 }, () => send(`http://shared.test:${port}/`)))
      await send(`http://shared.test:${port}/`)
      expect(asked.filter(({ family }) => family === 4)).toHaveLength(1)
    })
  })
})
