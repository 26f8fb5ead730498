import http from 'node:http'
import https from 'node:https'
import type { LookupFunction, Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import { type Gate, gate } from './gate.ts'
import type { Target } from './target.ts'
import type { Tunnel } from './tunnel.ts'

/** A private certificate authority, and a client certificate with its key, in PEM. */
export interface TlsOptions {
  readonly ca?: string | string[]
  readonly cert?: string
  readonly key?: string
}

/** What a connection is made for: the options of the request, as `node:http` hands them to its agent. */
export interface Dial extends http.ClientRequestArgs {
  readonly target: Target
  readonly timeoutMs: number
}

/** A place among the requests in flight, or in the line for one. */
export interface Visit {
  /** Calls `go` when the request may be made: at once unless a bound is reached. */
  enter(go: () => void): void
  /** Gives the place up, or the wait for it. */
  leave(): void
  isInside(): boolean
}

/** Keep-alive connections, bounded for each origin and in all. */
export interface Pool {
  /** A visit of the origin, not entered yet. */
  visit(origin: string): Visit
  /** @throws what `node:http` throws for a header or path that cannot be sent. */
  request(
    dial: Pick<Dial, 'target' | 'timeoutMs' | 'method' | 'headers'>,
    onAnswer: (answer: http.IncomingMessage) => void,
  ): http.ClientRequest
  /** Whether a request went out on a kept connection and no byte has come on that since. */
  isStale(request: http.ClientRequest): boolean
  /** Whether the connection of a request was made, TLS included. */
  wasConnected(request: http.ClientRequest): boolean
  /** Closes idle connections to the origin. */
  dropIdle(target: Target): void
  close(): void
  /** Connections open now, those being made included. */
  readonly connections: number
}

export const maxConnections = 2048
export const maxConnectionsPerOrigin = 512
/** Receivers close idle connections after 5 s and more; a request that is sent at that moment is lost. */
const idleMs = 4000

export function connectionPool({
  tls,
  lookup,
  tunnel,
}: {
  readonly tls: TlsOptions
  readonly lookup: LookupFunction
  /** How to dial through a proxy; null dials the target itself. */
  readonly tunnel: Tunnel | null
}): Pool {
  const everyone = gate(maxConnections)
  const origins = new Map<string, Gate>()
  const idle = new Set<Duplex>()
  const connected = new WeakSet<object>()
  const receivedBefore = new WeakMap<object, number>()
  let connections = 0

  // The bounds are kept by the gates: an agent at its limit would not close idle connections of other origins.
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
        connections--
        idle.delete(socket)
      })
      return socket
    }

    return Object.assign(agent, {
      getName: (options?: http.ClientRequestArgs) => (options as Dial).target.origin, // every request is made by us
      createConnection(options: http.ClientRequestArgs, done: (error: Error | null, socket?: Duplex) => void) {
        if (connections >= maxConnections) closeOldest()
        connections++
        if (tunnel === null) return watch(dial(options)!) // it answers the socket it made
        tunnel(options as Dial, (error, socket) => {
          if (error !== null) connections--
          else connected.add(watch(socket))
          done(error, socket)
        })
        return undefined
      },
      keepSocketAlive(socket: Duplex) {
        idle.add(socket)
        return keep(socket)
      },
      reuseSocket(socket: Duplex, request: http.ClientRequest) {
        idle.delete(socket)
        receivedBefore.set(socket, (socket as Socket).bytesRead) // an agent's sockets are sockets
        reuse(socket, request)
      },
    })
  }

  function closeOldest(): void {
    const [oldest] = idle
    if (oldest === undefined) return
    idle.delete(oldest)
    oldest.destroy()
  }

  function visit(origin: string): Visit {
    const own = origins.get(origin) ?? gate(maxConnectionsPerOrigin)
    origins.set(origin, own)
    let at: 'outside' | 'origin' | 'everyone' | 'inside' = 'outside'
    let go: () => void

    function enterEveryone(): void {
      at = 'everyone'
      everyone.enter(enterPool)
    }
    function enterPool(): void {
      at = 'inside'
      go()
    }

    return {
      enter(whenInside) {
        go = whenInside
        at = 'origin'
        own.enter(enterEveryone)
      },
      leave() {
        if (at === 'origin') own.forget(enterEveryone)
        if (at === 'everyone') everyone.forget(enterPool)
        if (at === 'inside') everyone.leave()
        if (at === 'everyone' || at === 'inside') own.leave()
        at = 'outside'
        if (own.inside === 0) origins.delete(origin)
      },
      isInside: () => at === 'inside',
    }
  }

  return {
    visit,
    request({ target, timeoutMs, method, headers }, onAnswer) {
      const { secure: isSecure, host, port, path, servername } = target
      const dial: https.RequestOptions & Dial = {
        target,
        timeoutMs,
        method,
        host,
        port,
        path,
        headers,
        lookup,
        agent: isSecure ? secure : plain,
      }
      return isSecure ? https.request({ ...dial, servername }, onAnswer) : http.request(dial, onAnswer)
    },
    isStale: (request) =>
      request.reusedSocket &&
      request.socket !== null &&
      receivedBefore.get(request.socket) === request.socket.bytesRead,
    wasConnected: ({ socket }) => socket !== null && connected.has(socket),
    dropIdle({ secure: isSecure, origin }) {
      for (const socket of (isSecure ? secure : plain).freeSockets[origin] ?? []) socket.destroy()
    },
    close() {
      for (const socket of idle) socket.destroy()
      plain.destroy()
      secure.destroy()
    },
    get connections() {
      return connections
    },
  }
}
