import { Writable } from 'node:stream'

import { createConsola } from 'consola'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import winston from 'winston'

import { safeLogger } from '../../src/services/observers.ts'

// Loggers as hosts pass them. A line keeps its sentence, its details, and the message of its cause.

const details = { workspace_id: 'w', endpoint_id: 'ep_1', cause: new Error('outer', { cause: new Error('inner') }) }

function gathering() {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      lines.push(chunk.toString())
      done()
    },
  })
  return { lines, stream }
}

const cause = expect.objectContaining({ message: 'outer', cause: expect.objectContaining({ message: 'inner' }) })

test('pino, whose details come first', () => {
  const { lines, stream } = gathering()
  const log = safeLogger(pino({ level: 'debug' }, stream))
  log.warn('endpoint disabled', details)
  log.info('started')
  log.debug('gone')
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: 40, msg: 'endpoint disabled', workspace_id: 'w', endpoint_id: 'ep_1', cause },
    { level: 30, msg: 'started' },
    { level: 20, msg: 'gone' },
  ])
})

test('a child of pino, as frameworks hand out', () => {
  const { lines, stream } = gathering()
  safeLogger(pino({}, stream).child({ app: 'shop' })).error('failed', details)
  expect(JSON.parse(lines.join(''))).toMatchObject({ app: 'shop', msg: 'failed', endpoint_id: 'ep_1', cause })
})

test('winston', async () => {
  const { lines, stream } = gathering()
  const transports = [new winston.transports.Stream({ stream })]
  safeLogger(winston.createLogger({ format: winston.format.json(), transports })).warn('endpoint disabled', details)
  await new Promise((resolve) => setImmediate(resolve))
  expect(JSON.parse(lines.join(''))).toMatchObject({
    level: 'warn',
    message: 'endpoint disabled',
    endpoint_id: 'ep_1',
    cause,
  })
})

test('consola', () => {
  const lines: { type: string; args: unknown[] }[] = []
  const reporters = [{ log: ({ type, args }: { type: string; args: unknown[] }) => void lines.push({ type, args }) }]
  safeLogger(createConsola({ level: 5, reporters })).warn('endpoint disabled', details)
  expect(lines).toMatchObject([{ type: 'warn', args: ['endpoint disabled', { endpoint_id: 'ep_1', cause }] }])
})

test('the console', async () => {
  const { Console } = await import('node:console')
  const { lines, stream } = gathering()
  safeLogger(new Console(stream)).warn('endpoint disabled', details)
  const text = lines.join('')
  for (const part of ['endpoint disabled', "endpoint_id: 'ep_1'", 'Error: outer', 'Error: inner']) {
    expect(text).toContain(part)
  }
})
