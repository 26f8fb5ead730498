import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

import { harmlessBody, hostileBody } from './bodies.ts'
import type { Random } from './random.ts'

const holdMs = 2000

/** A connection that tells of the first status it was answered, or of its end. */
function dial(port: number): { socket: Socket; answer: Promise<string> } {
  const socket = connect(port, '127.0.0.1')
  const answer = new Promise<string>((resolve) => {
    socket.once('data', (data) => resolve(data.toString('latin1').slice(9, 12)))
    socket.once('error', () => resolve('broken'))
    socket.once('close', () => resolve('closed'))
    void sleep(holdMs * 3, undefined, { ref: false }).then(() => resolve('silent'))
  })
  socket.on('error', () => {})
  return { socket, answer }
}

const head = (path: string, framing: string) => `POST ${path} HTTP/1.1\r\nhost: h\r\n${framing}\r\n\r\n`

/** A whole request; its connection is closed when it is answered. */
async function send(port: number, path: string, body: Uint8Array): Promise<string> {
  const { socket, answer } = dial(port)
  socket.write(head(path, `content-length: ${body.length}`))
  socket.write(body)
  const status = await answer
  socket.destroy()
  return status
}

type Act = (port: number, path: string, random: Random) => Promise<string>

/** What clients do to a gateway. Each ends within seconds. */
const acts: Readonly<Record<string, Act>> = {
  whole: (port, path, random) => send(port, path, hostileBody(random)),
  async 'too short'(port, path, random) {
    const { socket, answer } = dial(port)
    const body = hostileBody(random)
    socket.write(head(path, `content-length: ${body.length + 1 + random.size(1e6)}`))
    socket.write(body)
    await Promise.race([answer, sleep(holdMs)])
    socket.destroy()
    return 'gone'
  },
  async slow(port, path, random) {
    const { socket, answer } = dial(port)
    socket.write(head(path, 'content-length: 100000'))
    for (let i = 0; i < 20 && !socket.destroyed; i++) {
      socket.write(Buffer.alloc(random.size(1000), ' '))
      await Promise.race([answer, sleep(100)])
    }
    socket.destroy()
    return 'gone'
  },
  async endless(port, path) {
    const { socket, answer } = dial(port)
    socket.write(head(path, 'transfer-encoding: chunked'))
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`
    let isAnswered = false
    void answer.then(() => (isAnswered = true))
    const until = performance.now() + holdMs
    while (!isAnswered && !socket.destroyed && performance.now() < until) {
      if (!socket.write(chunk)) await sleep(20)
    }
    const status = await Promise.race([answer, sleep(100, 'unanswered')])
    socket.destroy()
    return status
  },
  async reset(port, path, random) {
    const { socket } = dial(port)
    const body = hostileBody(random)
    socket.write(head(path, `content-length: ${body.length}`))
    socket.write(body.subarray(0, body.length / 2))
    await sleep(random.below(50))
    socket.resetAndDestroy()
    return 'reset'
  },
  async 'without a word'(port) {
    const { socket } = dial(port)
    await sleep(holdMs)
    socket.destroy()
    return 'gone'
  },
  async 'half a head'(port, path) {
    const { socket } = dial(port)
    for (const part of `POST ${path} HTTP/1.1\r\nhost`) {
      socket.write(part)
      await sleep(50)
    }
    socket.destroy()
    return 'gone'
  },
  async deaf(port, path, random) {
    const { socket } = dial(port)
    socket.pause()
    const request = `${head(path, 'content-length: 28')}{"event_type":"a","data":{}}`
    socket.write(request.repeat(random.size(50)))
    await sleep(holdMs)
    socket.destroy()
    return 'gone'
  },
  async 'long head'(port, path, random) {
    const { socket, answer } = dial(port)
    socket.write(head(`${path}?${'q'.repeat(random.size(8000))}`, `x-long: ${'x'.repeat(random.size(100_000))}`))
    const status = await answer
    socket.destroy()
    return status
  },
  async 'chunk extensions'(port, path, random) {
    const { socket, answer } = dial(port)
    socket.write(head(path, 'transfer-encoding: chunked'))
    for (let i = 0; i < 10; i++) socket.write(`1;${'e'.repeat(random.size(20_000))}\r\n \r\n`)
    const status = await Promise.race([answer, sleep(holdMs, 'unanswered')])
    socket.destroy()
    return status
  },
  async crowd(port, path, random) {
    const all = Array.from({ length: random.size(60) }, () => send(port, path, hostileBody(random).subarray(0, 2000)))
    return (await Promise.all(all))[0]!
  },
}

/** Does one thing of the many, or sends an event of a size that such a thing may have. */
export async function visit(
  port: number,
  path: string,
  random: Random,
  isHostile: boolean,
): Promise<{ readonly what: string; readonly answer: string }> {
  if (!isHostile) return { what: 'event', answer: await send(port, path, harmlessBody(hostileBody(random).length)) }
  const what = random.pick(Object.keys(acts))
  return { what, answer: await acts[what]!(port, path, random) }
}
