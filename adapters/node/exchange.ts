import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

import { follow, unfollow } from './abort.ts'
import { Failure, failureCode, failureMessage } from './failure.ts'
import type { Pool } from './pool.ts'
import type { Target } from './target.ts'

export interface Exchange {
  readonly target: Target
  readonly method: string
  /** With lower-case names. Those that frame the message are ours and are left out. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
  /** Over everything: the line for a connection, lookup, connection, request and answer. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Reading stops when this many bytes of the body have come. */
  readonly maxBytes: number
  /** What the name of the target waits for, when it does. */
  readonly isLookingUp: (host: string) => boolean
}

/** `rawHeaders` has names and values in turn. `body` is what came of it; `whole` tells whether that is all. */
export type Ending =
  | {
      readonly kind: 'response'
      readonly status: number
      readonly rawHeaders: readonly string[]
      readonly body: Buffer
      readonly whole: boolean
    }
  | { readonly kind: 'timeout' | 'denied'; readonly message: string }
  | { readonly kind: 'error'; readonly message: string; readonly unreachable: boolean }
  | { readonly kind: 'aborted' }

const unsettable = new Set([
  'host',
  'content-length',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
])
/** More informational answers than this are an attempt to keep us busy. */
const maxInformational = 20
const empty = Buffer.alloc(0)

/** One request and its answer over a pool. It never throws; once a status has arrived, the ending is a response. */
export function exchange(pool: Pool, exchange: Exchange): Promise<Ending> {
  const { target, method, body, timeoutMs, signal, maxBytes } = exchange
  return new Promise((settle) => {
    if (signal.aborted) return settle({ kind: 'aborted' })
    const headers = framed(exchange)
    const chunks: Buffer[] = []
    let received = 0
    let informational = 0
    let request: ClientRequest | undefined
    let answer: IncomingMessage | undefined
    let isOver = false
    let hasRetried = false

    const visit = pool.visit(target.origin)
    const timer = setTimeout(onTimeout, timeoutMs)
    follow(signal, onAbort)
    visit.enter(send)

    function end(ending: Ending): void {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      unfollow(signal, onAbort)
      visit.leave()
      settle(ending)
    }

    /** Ends with what has come of an answer, or with `otherwise`, and gives the connection up. */
    function breakOff(otherwise: Ending): void {
      end(answer === undefined ? otherwise : response(answer, false))
      request?.destroy()
    }

    function response({ statusCode = 0, rawHeaders }: IncomingMessage, whole: boolean): Ending {
      const [first = empty] = chunks
      return {
        kind: 'response',
        status: statusCode,
        rawHeaders,
        body: chunks.length > 1 ? Buffer.concat(chunks) : first,
        whole,
      }
    }

    function send(): void {
      try {
        request = pool.request({ target, timeoutMs, method, headers }, onAnswer)
      } catch (cause) {
        return end({ kind: 'error', message: failureMessage(cause), unreachable: false })
      }
      request.on('error', onError)
      request.on('information', onInformation)
      request.on('upgrade', onUpgrade)
      if (body === null) request.end()
      else request.end(body)
    }

    function onAnswer(message: IncomingMessage): void {
      if (isOver) return
      answer = message
      message.on('data', onData)
      message.on('end', onEnd)
      message.on('error', onClose)
      message.on('close', onClose)
    }

    function onData(chunk: Buffer): void {
      if (isOver) return
      chunks.push(chunk)
      received += chunk.length
      if (received > maxBytes) breakOff({ kind: 'aborted' }) // there is an answer
    }

    function onEnd(): void {
      if (answer !== undefined) end(response(answer, true))
    }

    function onClose(): void {
      if (answer !== undefined) end(response(answer, false))
    }

    function onError(cause: Error): void {
      if (isOver || request === undefined) return
      if (answer !== undefined) return end(response(answer, false))
      const code = failureCode(cause)
      if (code === 'EDENIED') return end({ kind: 'denied', message: failureMessage(cause) })
      // The receiver closed a kept connection just when we used it. Whether it read anything cannot be known.
      if (!hasRetried && (code === 'ECONNRESET' || code === 'EPIPE') && pool.isStale(request)) {
        hasRetried = true
        pool.dropIdle(target) // they are as old: the next connection is a new one
        return send()
      }
      const unreachable = !pool.wasConnected(request)
      end({ kind: 'error', message: failureMessage(cause), unreachable })
    }

    function onInformation(): void {
      if (++informational <= maxInformational) return
      request?.destroy(new Failure('EPROTO', 'the receiver sent too many informational answers'))
    }

    /** We never ask for it; without a listener the request would wait for nothing. */
    function onUpgrade(message: IncomingMessage, socket: Duplex): void {
      socket.destroy()
      end(response(message, true))
    }

    function onTimeout(): void {
      breakOff({ kind: 'timeout', message: `timed out after ${timeoutMs} ms waiting for ${awaited()}` })
    }

    function onAbort(): void {
      breakOff({ kind: 'aborted' })
    }

    function awaited(): string {
      if (!visit.isInside() || request === undefined) return 'a free connection'
      if (pool.wasConnected(request)) return 'headers'
      if (exchange.isLookingUp(target.host)) return `the lookup of ${target.host}`
      return request.socket?.connecting === false ? 'the TLS handshake' : 'a connection'
    }
  })
}

/** Headers without those that are ours, and with the length of the body. */
function framed({ headers, body }: Exchange): Record<string, string | number> {
  const framed: Record<string, string | number> = {}
  for (const given in headers) {
    const name = given.toLowerCase()
    if (!unsettable.has(name) && !name.startsWith('proxy-')) framed[name] = headers[given]! // its own key
  }
  if (body !== null) framed['content-length'] = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  return framed
}
