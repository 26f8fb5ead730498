import type { Cancelable } from '../../src/core/cancellation.ts'
import type { Bounds } from './bounds.ts'
import { failureCode, failureMessage } from './failure.ts'
import type { Target } from './target.ts'
import type { Line, Wire } from './wire.ts'

export interface Exchange {
  readonly method: string
  /** With lower-case names. Those that frame the message are ours and are left out. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
  /** Over everything: the line for a connection, lookup, connection, request and answer. */
  readonly timeoutMs: number
  readonly until: Cancelable
  /** Reading stops when this many bytes of the body have come. */
  readonly maxBytes: number
}

/** What exchanges are made with. */
export interface Means {
  readonly wire: Wire
  readonly bounds: Bounds
  /** Whether the address of a name is being looked up. */
  readonly isLookingUp: (host: string) => boolean
}

/** `rawHeaders` has names and values in turn, read as latin1. `body` is what came of it; `whole` tells whether that is all. */
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
/** A kept connection that the receiver closed. */
const closed = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
/** More informational answers than this are an attempt to keep us busy. */
const maxInformational = 20
const empty = Buffer.alloc(0)

/** One request and its answer over a wire. It never throws; once a status has arrived, the ending is a response. */
export function exchange(
  { wire, bounds, isLookingUp }: Means,
  target: Target,
  { method, headers, body, timeoutMs, until, maxBytes }: Exchange,
): Promise<Ending> {
  return new Promise((settle) => {
    if (until.canceled) return settle({ kind: 'aborted' })
    const call = { target, method, headers: framed(headers), body, timeoutMs }
    const chunks: Buffer[] = []
    let received = 0
    let informational = 0
    let line: Line | undefined
    let status = 0
    let rawHeaders: readonly string[] = []
    let isOver = false
    let hasRetried = false

    const visit = bounds.visit(target.origin)
    const timer = setTimeout(onTimeout, timeoutMs)
    until.follow(onCancel)
    visit.enter(send)

    function end(ending: Ending): void {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      until.unfollow(onCancel)
      visit.leave()
      settle(ending)
    }

    /** Ends with what has come of an answer, or with `otherwise`, and gives the connection up. */
    function breakOff(otherwise: Ending): void {
      end(status === 0 ? otherwise : response(false))
      line?.cut()
    }

    function response(whole: boolean): Ending {
      const [first = empty] = chunks
      return { kind: 'response', status, rawHeaders, body: chunks.length > 1 ? Buffer.concat(chunks) : first, whole }
    }

    function error(cause: unknown, unreachable: boolean): Ending {
      return { kind: 'error', message: failureMessage(cause), unreachable }
    }

    function send(): void {
      try {
        line = wire.send(call, { onHeaders, onData, onEnd, onError })
      } catch (cause) {
        end(error(cause, false))
      }
    }

    function onHeaders(code: number, raw: readonly string[]): void {
      if (code >= 200 || code === 101) {
        status = code
        rawHeaders = raw
      } else if (++informational > maxInformational) {
        const message = 'the receiver sent too many informational answers'
        breakOff({ kind: 'error', message, unreachable: false })
      }
    }

    function onData(chunk: Buffer): void {
      if (isOver) return
      chunks.push(chunk)
      received += chunk.length
      if (received > maxBytes) breakOff({ kind: 'aborted' }) // there is an answer
    }

    function onEnd(): void {
      end(response(true))
    }

    function onError(cause: Error): void {
      if (isOver || line === undefined) return
      if (status !== 0) return end(response(false))
      const code = failureCode(cause)
      if (code === 'EDENIED') return end({ kind: 'denied', message: failureMessage(cause) })
      // The receiver closed a kept connection just when we used it. Whether it read anything cannot be known.
      if (!hasRetried && code !== undefined && closed.has(code) && line.isStale()) {
        hasRetried = true
        wire.dropIdle(target.origin) // they are as old: the next connection is a new one
        return send()
      }
      end(error(cause, line.state() !== 'connected'))
    }

    function onTimeout(): void {
      breakOff({ kind: 'timeout', message: `timed out after ${timeoutMs} ms waiting for ${awaited()}` })
    }

    function onCancel(): void {
      breakOff({ kind: 'aborted' })
    }

    function awaited(): string {
      if (!visit.isInside() || line === undefined) return 'a free connection'
      const state = line.state()
      if (state === 'connected') return 'headers'
      if (isLookingUp(target.host)) return `the lookup of ${target.host}`
      return state === 'handshaking' ? 'the TLS handshake' : 'a connection'
    }
  })
}

/** Names and values in turn, without those that are the wire's. */
function framed(headers: Readonly<Record<string, string>>): string[] {
  const framed: string[] = []
  for (const given in headers) {
    const name = given.toLowerCase()
    if (!unsettable.has(name) && !name.startsWith('proxy-')) framed.push(name, headers[given]!) // its own key
  }
  return framed
}
