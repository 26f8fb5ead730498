import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * A network between a library and its engine:
 *
 * - `good`: bytes pass.
 * - `stalled`: bytes wait, both ways, and pass when it is good again. New connections are accepted and wait too.
 * - `silent`: open connections are half-open for ever; new ones are accepted and never answered.
 * - `closed`: new connections are reset at once.
 */
export type Weather = 'good' | 'stalled' | 'silent' | 'closed'

/** A TCP proxy of our own. */
export interface Proxy {
  readonly url: string
  weather(next: Weather): void
  /** Open connections are half-open from now on; new ones pass. */
  drop(): void
  /** Resets all open connections. */
  reset(): void
  /** Each connection, open or new, is half-open after so many more bytes of answers; null: none is. */
  dropAfter(bytes: number | null): void
  /** Connections that the library holds. */
  open(): number
  close(): void
}

interface Pair {
  readonly near: Socket
  readonly far: Socket
  /** Half-open: nothing passes any more, ever. */
  isDead: boolean
  /** Bytes of answers that still pass; null: all. */
  left: number | null
  readonly held: (() => void)[]
}

/** @param url of the engine: host and port are replaced by those of the proxy. */
export async function proxyTo(url: string): Promise<Proxy> {
  const { hostname, port } = new URL(url)
  const pairs = new Set<Pair>()
  let now: Weather = 'good'
  let left: number | null = null

  const pass = (pair: Pair, act: () => void): void => {
    if (pair.isDead) return
    if (now === 'stalled' || pair.held.length > 0) pair.held.push(act)
    else act()
  }
  const answer = (pair: Pair, bytes: Buffer): void => {
    if (pair.left !== null) {
      pair.left -= bytes.length
      if (pair.left < 0) pair.isDead = true
    }
    if (!pair.isDead) pair.near.write(bytes)
  }
  const server = createServer((near) => {
    near.on('error', () => {})
    if (now === 'closed') return void near.resetAndDestroy()
    const far = connect(Number(port), hostname)
    const pair: Pair = { near, far, isDead: now === 'silent', left, held: [] }
    pairs.add(pair)
    near.on('data', (bytes: Buffer) => pass(pair, () => far.write(bytes)))
    far.on('data', (bytes: Buffer) => pass(pair, () => answer(pair, bytes)))
    // In a stall the engine hears of the end later, after what was sent before it.
    near.on('close', () => {
      pass(pair, () => far.end())
      if (pair.isDead) far.destroy()
      if (far.destroyed) pairs.delete(pair)
    })
    far.on('error', () => {})
    far.on('close', () => {
      pass(pair, () => near.destroy())
      if (near.destroyed) pairs.delete(pair)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String((server.address() as AddressInfo).port) // a TCP server's address is one
  return {
    url: through.href,
    weather(next) {
      now = next
      if (next === 'silent') for (const pair of pairs) pair.isDead = true
      if (next === 'stalled') return
      for (const pair of pairs) for (const act of pair.held.splice(0)) act()
    },
    drop() {
      for (const pair of pairs) pair.isDead = true
    },
    reset() {
      for (const { near, far } of pairs) {
        near.resetAndDestroy()
        far.destroy()
      }
    },
    dropAfter(bytes) {
      left = bytes
      for (const pair of pairs) pair.left = bytes
    },
    open: () => [...pairs].filter(({ near }) => !near.destroyed).length,
    close() {
      server.close()
      for (const { near, far } of pairs) {
        near.destroy()
        far.destroy()
      }
    },
  }
}
