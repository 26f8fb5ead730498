import net from 'node:net'
import tls from 'node:tls'

import { LRUCache } from 'lru-cache'
import type { Client } from 'undici'

import type { Bounds } from './bounds.ts'
import { Failure } from './failure.ts'
import { headReaders, noHead } from './head.ts'
import type { Target } from './target.ts'
import {
  type Call,
  type Line,
  type Listener,
  type Connections,
  type ConnectionOptions,
  headLength,
  idleMs,
  maxFramingBytes,
} from './connection.ts'

interface UndiciConnectionOptions extends ConnectionOptions {
  /** Called with an origin that undici cannot speak to. */
  readonly onMisfit: (origin: string) => void
}

/** An error for all connections: nobody reads it. Making an error with a stack was half the cost of giving a connection up. */
const givenUp = new Error('the connection was given up')

/** A connection, and the undici client that owns the connection: undici's own pools search all connections for a free connection. */
interface Connection extends Line {
  readonly origin: string
  isOpen(): boolean
  send(call: Call, listener: Listener): void
  destroy(): void
}

/**
 * undici's client, or null where `node:http` does the work: on Bun, which puts a shim in place of undici, on Deno, and
 * where a bundle has left it out. The package's main module is not loaded: that would put undici under the host's
 * `fetch`.
 */
export async function loadUndici(): Promise<typeof Client | null> {
  if (process.versions['bun'] !== undefined || process.versions['deno'] !== undefined) return null
  const loaded = await import('undici/lib/dispatcher/client.js').catch(() => null)
  return loaded?.default ?? null
}

/** Connections of undici, about twice as fast as those of `node:http`. */
export function undiciConnections(
  UndiciClient: typeof Client,
  { tls: tlsOptions, lookup, bounds, onMisfit }: UndiciConnectionOptions,
): Connections {
  const idle = new IdleConnections(bounds)
  const sessions = new LRUCache<string, Buffer>({ max: 100 })
  const headOf = headReaders()

  function dial({ origin, secure, host, port, servername }: Target): net.Socket {
    if (!secure) return net.connect({ host, port, lookup })
    const session = sessions.get(origin)
    const socket = tls.connect({
      ...tlsOptions,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
      host,
      port,
      lookup,
      servername,
      ...(session === undefined ? {} : { session }),
    })
    socket.on('session', (fresh) => sessions.set(origin, fresh))
    socket.once('close', (hasFailed) => hasFailed && sessions.delete(origin))
    return socket
  }

  function connect(target: Target): Connection {
    let socket: net.Socket | undefined
    let isConnected = false
    /** Bytes that had come on the socket before the call went out; -1 on a new socket. */
    let receivedBefore = -1
    let listener: Listener | null = null
    const head = headOf(target.origin)
    let awaitsHead = false
    const received = (): number => (socket?.bytesRead ?? 0) - Math.max(receivedBefore, 0)
    /** What undici found wrong with the call that it was given last. */
    let refusal: Error | null = null

    const client = new UndiciClient(originOf(target), {
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
      keepAliveTimeoutThreshold: 1000, // how much sooner than a receiver announces
      // request.ts has the deadline of the whole exchange.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: maxFramingBytes, // of names and values, which come with a status line and more
      connect(_options, done) {
        const dialled = dial(target)
        const fail = (cause: Error): void => done(cause, null)
        socket = dialled
        isConnected = false
        receivedBefore = -1
        bounds.opening()
        dialled.setNoDelay(true)
        dialled.once('error', fail)
        dialled.once(target.secure ? 'secureConnect' : 'connect', () => {
          isConnected = true
          dialled.off('error', fail)
          // undici parses all that has come, too long or not: 5,000 header lines cost as much as ten answers.
          judgeReads(dialled, (bytes) => {
            if (!awaitsHead || !isLongHead(bytes)) return true
            listener?.onLongHead()
            return false
          })
          done(null, dialled)
          // After undici's own listener, which has read and parsed all by then.
          dialled.on('readable', () => listener?.onAwait(received()))
        })
        dialled.once('close', () => {
          bounds.closed(connection)
          idle.remove(connection)
        })
      },
    })

    /** What undici calls. The same handler serves all calls of the connection, and passes on to the listener of the call under way. */
    const handler = {
      onConnect() {},
      onHeaders(status: number, headers: Buffer[], _resume: () => void, statusText: string) {
        awaitsHead = status < 200
        if (headLength(statusText, headers) > maxFramingBytes) {
          listener?.onLongHead()
          return true
        }
        listener?.onHeaders(status, head.read(headers), statusText)
        return true
      },
      onData(chunk: Buffer) {
        listener?.onData(chunk)
        return true
      },
      onComplete() {
        const told = listener
        listener = null
        // A receiver that has not read the whole request may never do so.
        if (socket?.writableLength === 0) idle.add(connection)
        else socket?.destroy()
        told?.onEnd(received())
      },
      onError(cause: Error) {
        const told = listener
        listener = null
        refusal = cause
        // Two answers that undici refuses to read on: 101, and 100 without a question.
        if (cause.message === 'bad upgrade') {
          told?.onHeaders(101, noHead, '')
          told?.onEnd(received())
        } else if (cause.message === 'bad response') {
          onMisfit(target.origin)
          told?.onError(new Failure('EPROTO', 'the receiver sent 100 Continue without being asked for it'))
        } else told?.onError(cause)
      },
    }

    const connection: Connection = {
      origin: target.origin,
      isOpen: () => socket?.destroyed === false,
      send({ target: { path }, method, headers, body }, to) {
        refusal = null
        receivedBefore = socket?.bytesRead ?? -1
        // A list that undici only reads.
        client.dispatch({ path, method, headers: headers as string[], body }, handler)
        if (refusal !== null) throw refusal
        listener = to
        awaitsHead = true
      },
      state() {
        if (isConnected) return 'connected'
        return socket?.connecting === false ? 'handshaking' : 'connecting'
      },
      isStale: () => socket?.bytesRead === receivedBefore,
      cut() {
        listener = null
        connection.destroy()
      },
      destroy() {
        void client.destroy(givenUp)
        socket?.destroy()
      },
    }
    return connection
  }

  return {
    send(call, listener) {
      const connection = idle.take(call.target.origin) ?? connect(call.target)
      try {
        connection.send(call, listener)
      } catch (cause) {
        connection.destroy()
        throw cause
      }
      return connection
    },
    dropIdle(origin) {
      for (const connection of idle.of(origin)) connection.destroy()
    },
  }
}

/** Idle connections by origin, each origin's in the order of their last use. */
class IdleConnections {
  readonly #bounds: Bounds
  readonly #byOrigin = new Map<string, Connection[]>()

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  /** The open connection to the origin that was used last. It is no longer idle. */
  take(origin: string): Connection | undefined {
    const connections = this.#byOrigin.get(origin)
    for (let found = connections?.pop(); found !== undefined; found = connections?.pop()) {
      this.#bounds.busy(found)
      if (found.isOpen()) return found
    }
    return undefined
  }

  add(connection: Connection): void {
    const connections = this.#byOrigin.get(connection.origin)
    if (connections === undefined) this.#byOrigin.set(connection.origin, [connection])
    else connections.push(connection)
    this.#bounds.idle(connection)
  }

  remove(connection: Connection): void {
    const others = this.#byOrigin.get(connection.origin)?.filter((other) => other !== connection) ?? []
    if (others.length > 0) this.#byOrigin.set(connection.origin, others)
    else this.#byOrigin.delete(connection.origin)
  }

  /** The idle connections to an origin, or all idle connections. */
  of(origin: string | undefined): readonly Connection[] {
    return origin === undefined ? [...this.#byOrigin.values()].flat() : (this.#byOrigin.get(origin) ?? [])
  }
}

/** Lets those who read the socket have only what passes. */
function judgeReads(socket: net.Socket, passes: (bytes: Buffer) => boolean): void {
  const read = socket.read.bind(socket)
  socket.read = (size?: number): Buffer | null => {
    const bytes: Buffer | null = read(size)
    return bytes === null || passes(bytes) ? bytes : null
  }
}

/** Whether a head that has not ended before these bytes is beyond the bound: an empty line ends it (RFC 9112, section 2.1). */
function isLongHead(bytes: Buffer): boolean {
  if (bytes.length <= maxFramingBytes) return false
  const start = bytes.subarray(0, maxFramingBytes)
  return !start.includes('\n\r\n') && !start.includes('\n\n')
}

function originOf({ secure, host, port }: Target): string {
  return `${secure ? 'https' : 'http'}://${net.isIPv6(host) ? `[${host}]` : host}:${port}`
}
