import type { Cancelable } from '../../src/contracts/cancelable.ts'
import { isFramingHeader } from '../../src/schema/framing-headers.ts'
import type { Bounds, Visit } from './bounds.ts'
import { failureCode, failureMessage, framingTooLong, headTooLong } from './failure.ts'
import { type Head, noHead } from './head.ts'
import type { Target } from './target.ts'
import { type Call, type Line, type Listener, type Connections, headLength, maxFramingBytes } from './connection.ts'

export interface OutgoingRequest {
  readonly method: string
  /** With lower-case names. Those that frame the message are ours and are left out. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
  /** Over lookup, connection, request and answer. For the host itself it also counts the line for a connection. */
  readonly timeoutMs: number
  /** Whose request it is; null for a request of the host. */
  readonly workspace: string | null
  /** Over the rest of the answer, after the status. */
  readonly restMs: number
  readonly until: Cancelable
  /** Reading stops when this many bytes of the body have come. */
  readonly maxBytes: number
}

/** What requests are made with. */
export interface Means {
  readonly connections: Connections
  readonly bounds: Bounds
  /** Whether the address of a name is being looked up. */
  readonly isLookingUp: (host: string) => boolean
}

/**
 * `body` is what came of an answer; `whole` tells whether that is all.
 * `ended` is false when the receiver did not end the answer in time.
 */
export type RequestEnd =
  | {
      readonly kind: 'response'
      readonly status: number
      readonly head: Head
      readonly body: Buffer
      readonly whole: boolean
      readonly ended: boolean
    }
  | { readonly kind: 'timeout' | 'denied' | 'busy'; readonly message: string }
  | { readonly kind: 'error'; readonly message: string; readonly unreachable: boolean; readonly ended?: false }
  | { readonly kind: 'aborted'; readonly isUnsent?: true }

/** Error codes of a reused connection that the receiver closed. */
const closed = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
/** Error codes of parsers for a head, chunk extensions or a trailer beyond the bound. */
const tooLong = new Set(['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'HPE_HEADER_OVERFLOW', 'UND_ERR_HEADERS_OVERFLOW'])
/** More informational answers than this are an attempt to keep us busy. */
const maxInformational = 20
/** How many bytes a chunk without extensions adds to the data: the length in at most 16 digits, and two line breaks. */
const chunkFrameBytes = 20
/** How long a request of a workspace waits in the line: a wait for its share is no try of the endpoint. */
const maxInLineMs = 1000
const empty = Buffer.alloc(0)

/**
 * Sends a request over a connection. Never throws. Once a status has arrived, the ending is a response, unless what frames
 * the answer is too long.
 */
export function sendRequest(means: Means, target: Target, wanted: OutgoingRequest): Promise<RequestEnd> {
  return new Promise((settle) => {
    if (wanted.until.canceled) settle({ kind: 'aborted', isUnsent: true })
    else new RequestUnderWay(means, target, wanted, settle).begin()
  })
}

/**
 * A request under way: one object for all that is called meanwhile, instead of a closure for each call, since many
 * requests are under way at once.
 */
class RequestUnderWay implements Listener {
  readonly #means: Means
  readonly #call: Call
  readonly #until: Cancelable
  readonly #maxBytes: number
  readonly #restMs: number
  readonly #settle: (ending: RequestEnd) => void
  readonly #visit: Visit
  readonly #workspace: string | null
  readonly #onCancel = (): void =>
    this.#breakOff(this.#line === undefined ? { kind: 'aborted', isUnsent: true } : { kind: 'aborted' }, true)
  #timer: NodeJS.Timeout | undefined
  #restTimer: NodeJS.Timeout | undefined
  #line: Line | undefined
  #status = 0
  #head = noHead
  #headBytes = 0
  #chunks: Buffer[] = []
  #received = 0
  #informational = 0
  #isOver = false
  #hasRetried = false

  constructor(
    means: Means,
    target: Target,
    { method, headers, body, timeoutMs, workspace, restMs, until, maxBytes }: OutgoingRequest,
    settle: (ending: RequestEnd) => void,
  ) {
    this.#means = means
    this.#call = { target, method, headers: framed(headers), body, timeoutMs }
    this.#until = until
    this.#maxBytes = maxBytes
    this.#restMs = restMs
    this.#settle = settle
    this.#visit = means.bounds.visit(target.origin, workspace)
    this.#workspace = workspace
  }

  begin(): void {
    this.#until.follow(this.#onCancel)
    this.#visit.enter(() => this.#enter())
    if (this.#isOver || this.#timer !== undefined) return
    const { timeoutMs } = this.#call
    const lineMs = this.#workspace === null ? timeoutMs : Math.min(timeoutMs, maxInLineMs)
    this.#timer = setTimeout(onTimeout, lineMs, this)
  }

  #enter(): void {
    if (this.#workspace !== null || this.#timer === undefined) {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(onTimeout, this.#call.timeoutMs, this)
    }
    this.#send()
  }

  onHeaders(code: number, head: Head, statusText: string): void {
    const bytes = headLength(statusText, head.raw)
    this.#headBytes += bytes
    if (bytes > maxFramingBytes) this.#failFraming()
    else if (code >= 200 || code === 101) {
      this.#status = code
      this.#head = head
    } else if (++this.#informational > maxInformational) {
      this.#giveUp('the receiver sent too many informational answers')
    }
  }

  onLongHead(): void {
    this.#failFraming()
  }

  onData(chunk: Buffer): void {
    if (this.#isOver) return
    this.#chunks.push(chunk)
    this.#received += chunk.length
    if (this.#received > this.#maxBytes) this.#breakOff({ kind: 'aborted' }, true) // an answer came
  }

  onAwait(received: number | null): void {
    if (this.#isOver) return
    if (this.#hasTooMuchFraming(received)) return this.#failFraming()
    // Most answers come whole, with their status: they need no second timer.
    if (this.#status !== 0) this.#restTimer ??= setTimeout(onTimeout, this.#restMs, this)
  }

  onEnd(received: number | null): void {
    if (this.#hasTooMuchFraming(received)) this.#failFraming()
    else this.#end(this.#response({ whole: true, ended: true }))
  }

  onError(cause: Error): void {
    const line = this.#line
    if (this.#isOver || line === undefined) return
    const code = failureCode(cause)
    if (code !== undefined && tooLong.has(code)) return this.#failFraming()
    if (this.#status !== 0) return this.#end(this.#response({ whole: false, ended: false }))
    if (code === 'EDENIED') return this.#end({ kind: 'denied', message: failureMessage(cause) })
    // The receiver closed a reused connection at the moment of use. Whether the receiver read anything cannot be known.
    if (!this.#hasRetried && code !== undefined && closed.has(code) && line.isStale()) {
      this.#hasRetried = true
      this.#means.connections.dropIdle(this.#call.target.origin) // other idle connections are as old: the next connection is new
      return this.#send()
    }
    this.#end(failed(cause, line.state() !== 'connected'))
  }

  onTimeout(): void {
    const isInside = this.#visit.isInside()
    const message = isInside
      ? `timed out after ${this.#call.timeoutMs} ms waiting for ${this.#awaited()}`
      : 'no connection was free in time'
    this.#breakOff({ kind: isInside ? 'timeout' : 'busy', message })
  }

  #send(): void {
    try {
      this.#line = this.#means.connections.send(this.#call, this)
    } catch (cause) {
      this.#end(failed(cause, false))
    }
  }

  #end(ending: RequestEnd): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    clearTimeout(this.#restTimer)
    this.#until.unfollow(this.#onCancel)
    this.#visit.leave()
    this.#settle(ending)
  }

  /**
   * Whether a head that is not complete, or all that frames a body, is too long. undici counts neither a status line nor
   * chunk extensions; RFC 9112, section 7.1.1, asks to bound the total length of the latter.
   */
  #hasTooMuchFraming(received: number | null): boolean {
    if (received === null) return false
    return received - this.#headBytes - this.#received - this.#chunks.length * chunkFrameBytes > maxFramingBytes
  }

  #failFraming(): void {
    this.#giveUp(this.#status === 0 ? headTooLong : framingTooLong)
  }

  /** The try fails, also where a status has come, and the receiver did not end its answer. */
  #giveUp(message: string): void {
    this.#end({ kind: 'error', message, unreachable: false, ended: false })
    this.#line?.cut()
  }

  /** Ends with what has come of an answer, or with `otherwise`, and gives the connection up. `ended`: by our own choice. */
  #breakOff(otherwise: RequestEnd, ended = false): void {
    this.#end(this.#status === 0 ? otherwise : this.#response({ whole: false, ended }))
    this.#line?.cut()
  }

  #response(how: { readonly whole: boolean; readonly ended: boolean }): RequestEnd {
    const [first = empty] = this.#chunks
    const body = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : first
    // V8 takes ten times as long for a spread in place of the last two.
    return { kind: 'response', status: this.#status, head: this.#head, body, whole: how.whole, ended: how.ended }
  }

  #awaited(): string {
    const { target } = this.#call
    if (this.#line === undefined) return 'a free connection'
    const state = this.#line.state()
    if (state === 'connected') return 'headers'
    if (this.#means.isLookingUp(target.host)) return `the lookup of ${target.host}`
    return state === 'handshaking' ? 'the TLS handshake' : 'a connection'
  }
}

function onTimeout(request: RequestUnderWay): void {
  request.onTimeout()
}

function failed(cause: unknown, unreachable: boolean): RequestEnd {
  return { kind: 'error', message: failureMessage(cause), unreachable }
}

/** Names and values in turn, without those that the connection writes. */
function framed(headers: Readonly<Record<string, string>>): string[] {
  const framed: string[] = []
  for (const given in headers) {
    const name = given.toLowerCase()
    if (!isFramingHeader(name)) framed.push(name, headers[given]!) // a key of `given`
  }
  return framed
}
