import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

import { Pool } from 'pg'
import { expect, test } from 'vitest'

import { clientOf } from '../../adapters/postgres/client-of.ts'

/** A message of the protocol: its letter, its length, and what it says. */
function message(letter: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(letter), length, body])
}

const authenticated = message('R', Buffer.alloc(4))
const ready = message('Z', Buffer.from('I'))
const terminated = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'))

test('a server that ends a connection in the same bytes that say it is ready ends a statement, and not the process', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(Buffer.concat([authenticated, ready, terminated])))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a TCP server's address is one
  const pool = new Pool({ connectionString: `postgres://someone@127.0.0.1:${port}/any`, max: 2 })
  pool.on('error', () => {})
  const client = clientOf(pool)
  await expect(client.query('select 1', [])).rejects.toThrow('not queryable')
  await expect(
    client.listen!(
      'news',
      () => {},
      () => {},
    ),
  ).rejects.toThrow('not queryable')
  expect(pool.totalCount).toBe(0)
  await pool.end()
  server.close()
})
