import { readFileSync } from 'node:fs'
import { createServer, type ServerOptions } from 'node:https'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'

import { describe, expect, test } from 'vitest'

import type { Resolve } from '../../adapters/node/lookup.ts'
import { connectionKinds } from './client.ts'
import { listen, rawReceiver, receiver } from './receiver.ts'

const pem = (name: string): string => readFileSync(new URL(`certificates/${name}`, import.meta.url), 'utf8')
const ca = pem('ca.pem')
const resolve: Resolve = async () => [{ address: '127.0.0.1', family: 4 }]

async function secureReceiver(options: ServerOptions = {}): Promise<{ port: number; sessions: boolean[] }> {
  const sessions: boolean[] = []
  const server = createServer(
    { cert: pem('receiver.pem'), key: pem('receiver.key'), ...options },
    (request, response) =>
      void response.end((request.socket as TLSSocket).getPeerCertificate().subject?.CN ?? 'anonymous'),
  )
  server.on('secureConnection', (socket) => sessions.push(socket.isSessionReused()))
  return { port: await listen(server), sessions }
}

describe.each(connectionKinds)('over %s', (_wire, client) => {
  describe('over TLS', () => {
    test('a receiver is reached by name, its certificate checked against a private authority', async () => {
      const { port } = await secureReceiver()
      const { send } = client({ tls: { ca }, resolve })
      expect(await send(`https://hook.test:${port}/`)).toMatchObject({ kind: 'response', body: 'anonymous' })
      expect(await send(`https://a.hook.test.:${port}/`)).toMatchObject({ kind: 'response' })
      expect(await send(`https://127.0.0.1:${port}/`)).toMatchObject({ kind: 'response' })
    })

    test('connections are kept, and closed ones resume their session', async () => {
      const { port, sessions } = await secureReceiver()
      const { http, send } = client({ tls: { ca }, resolve })
      await send(`https://hook.test:${port}/`)
      await send(`https://hook.test:${port}/`)
      expect(sessions).toEqual([false])
      expect(http.connections).toBe(1)
      await send(`https://hook.test:${port}/`, { captureBytes: 0 })
      await send(`https://hook.test:${port}/`)
      expect(sessions).toEqual([false, true])
    })

    test.each([
      ['an unknown authority', 'hook.test', {}, {}, /unable to verify the first certificate|self.signed/],
      [
        'an expired certificate',
        'hook.test',
        { cert: pem('expired.pem'), key: pem('expired.key') },
        { ca },
        /^certificate has expired$/,
      ],
      ['the name of another', 'other.test', {}, { ca }, /does not match certificate's altnames: Host: other\.test/],
      [
        'an old protocol',
        'hook.test',
        { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' },
        { ca },
        /^TLS: .*version/,
      ],
    ] as const)('%s is an error that says so, and nothing is sent', async (_what, host, receiving, tls, message) => {
      const { port, sessions } = await secureReceiver(receiving)
      const { send } = client({ tls, resolve })
      const reply = await send(`https://${host}:${port}/`)
      expect(reply).toEqual({ kind: 'error', message: expect.stringMatching(message), unreachable: true })
      expect(sessions.length).toBeLessThanOrEqual(1)
    })

    test('a receiver that speaks plain HTTP is an error', async () => {
      const { port } = await receiver((_request, response) => void response.end())
      const reply = await client({ tls: { ca }, resolve }).send(`https://hook.test:${port}/`)
      expect(reply).toMatchObject({ kind: 'error', message: expect.stringMatching(/^TLS: /), unreachable: true })
    })

    test('a handshake that stalls is timed out, and the message says so', async () => {
      const { port } = await rawReceiver((socket) => void socket.resume())
      const reply = await client({ tls: { ca }, resolve }).send(`https://hook.test:${port}/`, { timeoutMs: 200 })
      expect(reply).toEqual({ kind: 'timeout', message: 'timed out after 200 ms waiting for the TLS handshake' })
    })

    test('an answer may be as long as without, whatever the encryption adds', async () => {
      const head = `HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx: ${'a'.repeat(16_340)}\r\n\r\n`
      const bytes = [...head.match(/[^]{1,50}/g)!, 'ok'] // a record each, which adds 22 bytes
      const server = createTlsServer({ cert: pem('receiver.pem'), key: pem('receiver.key') }, (socket) => {
        socket.on('error', () => {})
        socket.on('data', () => bytes.forEach((each) => socket.write(each)))
      })
      const { send } = client({ tls: { ca }, resolve })
      const url = `https://hook.test:${await listen(server)}/`
      for (let i = 0; i < 3; i++) expect(await send(url)).toMatchObject({ kind: 'response', body: 'ok', ended: true })
    })

    test('a client certificate is shown to those who ask', async () => {
      const { port } = await secureReceiver({ requestCert: true, rejectUnauthorized: true, ca })
      const tls = { ca, cert: pem('client.pem'), key: pem('client.key') }
      expect(await client({ tls, resolve }).send(`https://hook.test:${port}/`)).toMatchObject({
        kind: 'response',
        body: 'client',
      })
      expect(await client({ tls: { ca }, resolve }).send(`https://hook.test:${port}/`)).toMatchObject({ kind: 'error' })
    })

    test('the deny list holds', async () => {
      const { port, sessions } = await secureReceiver()
      const { send } = client({ deny: ['@default'], tls: { ca }, resolve })
      expect(await send(`https://hook.test:${port}/`)).toMatchObject({ kind: 'denied' })
      expect(await send(`https://127.0.0.1:${port}/`)).toMatchObject({ kind: 'denied' })
      expect(sessions).toEqual([])
    })
  })
})
