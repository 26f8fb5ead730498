import { fork } from 'node:child_process'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

const kinds = ['receive', 'stay silent'] as const

/** What came since the last `counts`: requests, and those among them whose `webhook-id` had come before. */
export interface Counts {
  readonly arrived: number
  readonly repeated: number
}

export interface Receiver {
  readonly url: string
  counts(): Promise<Counts>
  stop(): void
}

/** An endpoint in a process of its own, so that its work is not counted: it reads the request and answers 200, or never. */
export async function startReceiver(kind: (typeof kinds)[number] = 'receive'): Promise<Receiver> {
  const child = fork(fileURLToPath(import.meta.url), [kind], { execArgv: [] })
  const [port] = (await once(child, 'message')) as [number] // what `isReceiver` sends first
  return {
    url: `http://127.0.0.1:${port}/hook`,
    async counts() {
      child.send('counts')
      const [counts] = (await once(child, 'message')) as [Counts] // and then
      return counts
    },
    stop: () => child.kill(),
  }
}

/** Whether this process is that endpoint; then it is already listening. */
export function isReceiver(): boolean {
  const kind = kinds.find((each) => each === process.argv[2])
  if (kind === undefined) return false
  const seen = new Set<string>()
  const counts = { arrived: 0, repeated: 0 }
  const server = kind === 'receive' ? answering(arrived) : silent()
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port)) // it listens on a port
  process.on('disconnect', () => process.exit()) // the bench ended, however it did
  process.on('message', () => {
    process.send?.({ ...counts })
    seen.clear()
    counts.arrived = counts.repeated = 0
  })
  function arrived(id: string | undefined): void {
    counts.arrived++
    if (id === undefined) return
    if (seen.has(id)) counts.repeated++
    seen.add(id)
  }
  return true
}

/** By hand, so that it takes as little as possible of the cores that it shares with what is measured. */
function answering(arrived: (id: string | undefined) => void): net.Server {
  return net.createServer((socket) => {
    let rest: Buffer = Buffer.alloc(0)
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      for (;;) {
        const end = rest.indexOf('\r\n\r\n')
        if (end < 0) return
        const head = rest.toString('latin1', 0, end)
        const length = /\r\ncontent-length: *(\d+)/i.exec(head)
        const next = end + 4 + Number(length?.[1] ?? 0)
        if (rest.length < next) return
        rest = rest.subarray(next)
        arrived(/\r\nwebhook-id: *([^\r\n]*)/i.exec(head)?.[1])
        socket.write(answer())
      }
    })
  })
}

const body = '{"ok":true}'
let made = { second: 0, text: '' }

function answer(): string {
  const second = Math.floor(Date.now() / 1000)
  if (made.second !== second) {
    const lines = [
      'content-type: application/json',
      `content-length: ${body.length}`,
      `date: ${new Date().toUTCString()}`,
    ]
    made = { second, text: `HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\n\r\n${body}` }
  }
  return made.text
}

function silent(): net.Server {
  return net.createServer((socket) => {
    socket.on('error', () => {}) // whoever gave up may have gone at once
    socket.resume()
  })
}
