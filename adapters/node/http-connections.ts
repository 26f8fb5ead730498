import http from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import { Head, noHead } from './head.ts'
import type { Target } from './target.ts'
import type { Tunnel } from './tunnel.ts'
import {
  type Call,
  type Line,
  type Listener,
  type Connections,
  type ConnectionOptions,
  idleMs,
  maxFramingBytes,
} from './connection.ts'

/** What a connection is made for: the options of the request, as `node:http` hands them to its agent. */
interface Dial extends http.ClientRequestArgs {
  readonly target: Target
  readonly timeoutMs: number
}

interface HttpConnectionOptions extends ConnectionOptions {
  /** How to dial through a proxy; null dials the target itself. */
  readonly tunnel: Tunnel | null
}

/** Connections of `node:http`, which behave alike on Node, Deno and Bun and can go through a proxy. */
export function httpConnections({ tls, lookup, bounds, tunnel }: HttpConnectionOptions): Connections {
  const idle = new Set<Duplex>()
  const connected = new WeakSet<object>()
  const receivedBefore = new WeakMap<object, number>()

  // `bounds.ts` holds the bounds: an agent at its limit would not close idle connections of other origins.
  const settings: https.AgentOptions = {
    keepAlive: true,
    timeout: idleMs,
    scheduling: 'lifo',
    maxFreeSockets: Infinity,
  }
  const plain = guarded(new http.Agent(settings), 'connect')
  const secure = guarded(new https.Agent({ ...settings, ...tls, minVersion: 'TLSv1.2' }), 'secureConnect')

  function guarded<Agent extends http.Agent>(agent: Agent, ready: 'connect' | 'secureConnect'): Agent {
    const dial = agent.createConnection.bind(agent)
    const keep = agent.keepSocketAlive.bind(agent)
    const reuse = agent.reuseSocket.bind(agent)

    function watch(socket: Duplex): Duplex {
      socket.once(ready, () => connected.add(socket))
      socket.once('close', () => {
        bounds.closed(socket)
        idle.delete(socket)
      })
      return socket
    }

    return Object.assign(agent, {
      getName: (options?: http.ClientRequestArgs) => (options as Dial).target.origin, // every request is made by us
      createConnection(options: http.ClientRequestArgs, done: (error: Error | null, socket?: Duplex) => void) {
        if (tunnel === null) {
          const socket = dial(options)! // it answers the socket it made, or throws
          bounds.opening()
          return watch(socket)
        }
        bounds.opening()
        tunnel(options as Dial, (error, socket) => {
          if (error !== null) bounds.closed()
          else connected.add(watch(socket))
          done(error, socket)
        })
        return undefined
      },
      keepSocketAlive(socket: Duplex) {
        idle.add(socket)
        bounds.idle(socket)
        return keep(socket)
      },
      reuseSocket(socket: Duplex, request: http.ClientRequest) {
        idle.delete(socket)
        bounds.busy(socket)
        receivedBefore.set(socket, (socket as Socket).bytesRead) // an agent's sockets are sockets
        reuse(socket, request)
      },
    })
  }

  function request({ target, timeoutMs, method, headers, body }: Call): http.ClientRequest {
    const { secure: isSecure, host, port, path, servername } = target
    const dial: https.RequestOptions & Dial = {
      target,
      timeoutMs,
      method,
      host,
      port,
      path,
      headers: framed(headers, body),
      // Of the status text, names and values. Node's parser bounds a chunk extension by the same figure.
      maxHeaderSize: maxFramingBytes,
      lookup,
      agent: isSecure ? secure : plain,
    }
    return isSecure ? https.request({ ...dial, servername }) : http.request(dial)
  }

  return {
    send(call, listener): Line {
      const sent = request(call)
      listen(sent, listener)
      if (call.body === null) sent.end()
      else sent.end(call.body)
      return {
        state() {
          const { socket } = sent
          if (socket !== null && connected.has(socket)) return 'connected'
          return socket?.connecting === false ? 'handshaking' : 'connecting'
        },
        isStale: () =>
          sent.reusedSocket && sent.socket !== null && receivedBefore.get(sent.socket) === sent.socket.bytesRead,
        cut: () => void sent.destroy(),
      }
    },
    dropIdle(origin) {
      const dropped =
        origin === undefined ? idle : [...(plain.freeSockets[origin] ?? []), ...(secure.freeSockets[origin] ?? [])]
      for (const socket of dropped) socket.destroy()
    },
  }
}

/** The headers of a call, with the length of the body. */
function framed(headers: Call['headers'], body: Call['body']): Record<string, string | number> {
  const all: Record<string, string | number> = {}
  for (let i = 0; i + 1 < headers.length; i += 2) all[headers[i]!] = headers[i + 1]! // the condition says so
  if (body !== null) all['content-length'] = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  return all
}

/** Reports what comes of a request to the listener. */
function listen(sent: http.ClientRequest, listener: Listener): void {
  let answer: http.IncomingMessage | undefined
  let isOver = false

  function fail(cause: Error): void {
    if (!isOver) listener.onError(cause)
    isOver = true
  }
  function broken(cause = new Error('the answer broke off')): void {
    // What came along with the fault was parsed, and waits to be read.
    for (let chunk = answer?.read(); !isOver && chunk instanceof Buffer; chunk = answer?.read()) listener.onData(chunk)
    fail(cause)
  }

  sent.on('error', (cause) => (answer === undefined ? fail(cause) : broken(cause)))
  sent.on('information', ({ statusCode }) => listener.onHeaders(statusCode, noHead, ''))
  // We never ask for it; without a listener the request would wait for nothing.
  sent.on('upgrade', ({ statusCode = 0, rawHeaders, statusMessage = '' }, socket) => {
    isOver = true
    listener.onHeaders(statusCode, new Head(rawHeaders), statusMessage)
    listener.onEnd(null)
    socket.destroy()
  })
  sent.on('response', (message) => {
    answer = message
    listener.onHeaders(message.statusCode ?? 0, new Head(message.rawHeaders), message.statusMessage ?? '')
    listener.onAwait(null)
    message.on('data', (chunk: Buffer) => listener.onData(chunk))
    message.on('end', () => {
      isOver = true
      listener.onEnd(null)
    })
    message.on('error', broken)
    message.on('close', () => broken())
  })
}
