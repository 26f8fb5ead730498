import { expect, test } from 'vitest'

import { frameOf, frameReader } from '../../adapters/node/frames.ts'

test('messages arrive whole, however the pipe cuts them', () => {
  const messages = [{ ready: true }, 'é'.repeat(1000), null]
  const bytes = Buffer.concat(messages.map(frameOf))
  for (const size of [1, 3, 7, 500, bytes.length]) {
    const taken: unknown[] = []
    const read = frameReader((message) => taken.push(message))
    for (let at = 0; at < bytes.length; at += size) read(bytes.subarray(at, at + size))
    expect(taken).toEqual(messages)
  }
})

test('a message that is announced too long is refused before it comes', () => {
  const read = frameReader(() => {})
  expect(() => read(Buffer.from([0, 0, 0, 0x7f]))).toThrow('too long')
})
