import type { Cancelable } from '../../src/core/cancellation.ts'
import type { Bounds, Visit } from './bounds.ts'
import { failureCode, failureMessage } from './failure.ts'
import type { Target } from './target.ts'
import type { Call, Line, Listener, Wire } from './wire.ts'

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
export function exchange(means: Means, target: Target, wanted: Exchange): Promise<Ending> {
  return new Promise((settle) => {
    if (wanted.until.canceled) settle({ kind: 'aborted' })
    else new Talk(means, target, wanted, settle).begin()
  })
}

/** An exchange under way: one object for all that is called meanwhile, instead of a closure for each, since there are many at once. */
class Talk implements Listener {
  readonly #means: Means
  readonly #call: Call
  readonly #until: Cancelable
  readonly #maxBytes: number
  readonly #settle: (ending: Ending) => void
  readonly #visit: Visit
  readonly #onCancel = (): void => this.#breakOff({ kind: 'aborted' })
  #timer: NodeJS.Timeout | undefined
  #line: Line | undefined
  #status = 0
  #rawHeaders: readonly string[] = []
  #chunks: Buffer[] = []
  #received = 0
  #informational = 0
  #isOver = false
  #hasRetried = false

  constructor(
    means: Means,
    target: Target,
    { method, headers, body, timeoutMs, until, maxBytes }: Exchange,
    settle: (ending: Ending) => void,
  ) {
    this.#means = means
    this.#call = { target, method, headers: framed(headers), body, timeoutMs }
    this.#until = until
    this.#maxBytes = maxBytes
    this.#settle = settle
    this.#visit = means.bounds.visit(target.origin)
  }

  begin(): void {
    this.#timer = setTimeout(onTimeout, this.#call.timeoutMs, this)
    this.#until.follow(this.#onCancel)
    this.#visit.enter(() => this.#send())
  }

  onHeaders(code: number, raw: readonly string[]): void {
    if (code >= 200 || code === 101) {
      this.#status = code
      this.#rawHeaders = raw
    } else if (++this.#informational > maxInformational) {
      const message = 'the receiver sent too many informational answers'
      this.#breakOff({ kind: 'error', message, unreachable: false })
    }
  }

  onData(chunk: Buffer): void {
    if (this.#isOver) return
    this.#chunks.push(chunk)
    this.#received += chunk.length
    if (this.#received > this.#maxBytes) this.#breakOff({ kind: 'aborted' }) // there is an answer
  }

  onEnd(): void {
    this.#end(this.#response(true))
  }

  onError(cause: Error): void {
    const line = this.#line
    if (this.#isOver || line === undefined) return
    if (this.#status !== 0) return this.#end(this.#response(false))
    const code = failureCode(cause)
    if (code === 'EDENIED') return this.#end({ kind: 'denied', message: failureMessage(cause) })
    // The receiver closed a kept connection just when we used it. Whether it read anything cannot be known.
    if (!this.#hasRetried && code !== undefined && closed.has(code) && line.isStale()) {
      this.#hasRetried = true
      this.#means.wire.dropIdle(this.#call.target.origin) // they are as old: the next connection is a new one
      return this.#send()
    }
    this.#end(failed(cause, line.state() !== 'connected'))
  }

  onTimeout(): void {
    const message = `timed out after ${this.#call.timeoutMs} ms waiting for ${this.#awaited()}`
    this.#breakOff({ kind: 'timeout', message })
  }

  #send(): void {
    try {
      this.#line = this.#means.wire.send(this.#call, this)
    } catch (cause) {
      this.#end(failed(cause, false))
    }
  }

  #end(ending: Ending): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#until.unfollow(this.#onCancel)
    this.#visit.leave()
    this.#settle(ending)
  }

  /** Ends with what has come of an answer, or with `otherwise`, and gives the connection up. */
  #breakOff(otherwise: Ending): void {
    this.#end(this.#status === 0 ? otherwise : this.#response(false))
    this.#line?.cut()
  }

  #response(whole: boolean): Ending {
    const [first = empty] = this.#chunks
    const body = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : first
    return { kind: 'response', status: this.#status, rawHeaders: this.#rawHeaders, body, whole }
  }

  #awaited(): string {
    const { target } = this.#call
    if (!this.#visit.isInside() || this.#line === undefined) return 'a free connection'
    const state = this.#line.state()
    if (state === 'connected') return 'headers'
    if (this.#means.isLookingUp(target.host)) return `the lookup of ${target.host}`
    return state === 'handshaking' ? 'the TLS handshake' : 'a connection'
  }
}

function onTimeout(talk: Talk): void {
  talk.onTimeout()
}

function failed(cause: unknown, unreachable: boolean): Ending {
  return { kind: 'error', message: failureMessage(cause), unreachable }
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
