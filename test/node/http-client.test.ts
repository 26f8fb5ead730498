import { describe, expect, test } from 'vitest'

import { client, expectKind } from './client.ts'
import { receiver } from './receiver.ts'

describe('a request', () => {
  test('arrives with its method, path, headers and body, and framing of its own', async () => {
    const { url, port } = await receiver((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += chunk))
      request.on('end', () => {
        response.setHeader('x-many', ['a', 'b'])
        response.end(JSON.stringify({ method: request.method, path: request.url, headers: request.headers, body }))
      })
    })
    const { send } = client()
    const reply = expectKind(
      await send(`${url}in/box?a=1#part`, {
        request: {
          headers: { 'x-one': '1', host: 'evil.example', 'content-length': '1', connection: 'close', te: 'trailers' },
          body: '{"é":1}',
        },
      }),
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
})
