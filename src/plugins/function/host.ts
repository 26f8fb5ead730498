import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core'

import type { HashName } from '../../contracts/platform.ts'
import { bounds, type Ending, isLevel, type Line } from './ending.ts'

export type Hmac = (hash: HashName, key: Uint8Array, data: Uint8Array) => Uint8Array

/** What a function made so far. */
export interface Made {
  readonly lines: Line[]
  readonly headers: Map<string, string>
  readonly exitHeaders: Map<string, string>
  body?: string
  exit?: Extract<Ending, { kind: 'exit' }>
}

export const nothingMade = (): Made => ({ lines: [], headers: new Map(), exitHeaders: new Map() })

const encoder = new TextEncoder()
const hashNames: readonly string[] = ['md5', 'sha-1', 'sha-256', 'sha-512'] satisfies HashName[]

/**
 * Answers the questions of the prelude, in a run that makes what `madeNow` answers. The host judges the type and size
 * of each value before it reads the value, whatever the function did to the language inside; what is refused is thrown
 * inside as an error.
 */
export function answerer(context: QuickJSContext, hmac: Hmac, madeNow: () => Made) {
  /** Of a JSON text of a string the string. A character takes six in it at most. */
  function text(handle: QuickJSHandle | undefined, max: number): string {
    const value: unknown = JSON.parse(plainText(context, handle, 6 * max + 2))
    if (typeof value !== 'string') throw new TypeError('a string is due')
    if (value.length > max) throw new RangeError(`at most ${max} characters are allowed`)
    return value
  }

  function bytes(handle: QuickJSHandle | undefined): Uint8Array {
    if (handle !== undefined && context.typeof(handle) === 'object') {
      return context.getArrayBuffer(handle).consume(({ value }) => {
        if (value.length > bounds.bytes) throw new RangeError(`at most ${bounds.bytes} bytes are allowed`)
        return value.slice()
      })
    }
    return encoder.encode(text(handle, bounds.chars))
  }

  function header(into: Map<string, string>, name: string, value: string): void {
    into.set(name, value)
    let chars = 0
    for (const [key, each] of into) chars += key.length + each.length
    if (into.size <= bounds.headers && chars <= bounds.headerChars) return
    into.delete(name)
    throw new RangeError(`at most ${bounds.headers} headers of ${bounds.headerChars} characters together are allowed`)
  }

  type Answer = (made: Made, ...values: readonly QuickJSHandle[]) => QuickJSHandle
  const answers: Readonly<Record<string, Answer>> = {
    log(made, level, line) {
      const [name, written] = [text(level, 10), text(line, bounds.lineLength)]
      if (!isLevel(name)) throw new TypeError('unknown level')
      if (made.lines.length < bounds.lines) made.lines.push({ level: name, text: written })
      return context.undefined
    },
    body(made, value) {
      made.body = text(value, bounds.chars)
      return context.undefined
    },
    header(made, name, value) {
      header(made.headers, text(name, bounds.headerChars), text(value, bounds.headerChars))
      return context.undefined
    },
    'exit header'(made, name, value) {
      header(made.exitHeaders, text(name, bounds.headerChars), text(value, bounds.headerChars))
      return context.undefined
    },
    exit(made, status, body, isText) {
      made.exit = {
        kind: 'exit',
        lines: made.lines,
        status: status !== undefined && context.typeof(status) === 'number' ? context.getNumber(status) : Number.NaN,
        headers: Object.fromEntries(made.exitHeaders),
        body: text(body, bounds.chars),
        json: isText === undefined || !context.sameValue(isText, context.true),
      }
      throw new Error('the function has ended')
    },
    hmac(_made, algorithm, key, data) {
      const name = text(algorithm, 1000)
      const hash = name.toLowerCase()
      if (!hashNames.includes(hash)) throw new TypeError(`unknown algorithm ${name}: SHA-1, SHA-256, SHA-512 or MD5`)
      // A copy: a digest may be a view of memory that holds more than the digest.
      return context.newArrayBuffer(Uint8Array.from(hmac(hash as HashName, bytes(key), bytes(data))).buffer)
    },
    encode(_made, encoding, value) {
      return context.newString(encoded(text(encoding, 1000), bytes(value)))
    },
    equal(_made, one, other) {
      return equal(bytes(one), bytes(other)) ? context.true : context.false
    },
  }

  return (question: QuickJSHandle, ...values: readonly QuickJSHandle[]): QuickJSHandle => {
    const made = madeNow()
    if (made.exit !== undefined) throw new Error('the function has ended')
    const name = plainText(context, question, 20)
    if (!Object.hasOwn(answers, name)) throw new TypeError('unknown question')
    return answers[name]!(made, ...values)
  }
}

/** Reads a string no longer than `max`. */
export function plainText(context: QuickJSContext, handle: QuickJSHandle | undefined, max: number): string {
  if (handle === undefined || context.typeof(handle) !== 'string') throw new TypeError('a string is due')
  // The length of a string itself: nothing inside can redefine it.
  const length = context.getProp(handle, 'length').consume((value) => context.getNumber(value))
  if (!(length <= max)) throw new RangeError(`at most ${max} characters are allowed`)
  return context.getString(handle)
}

function encoded(encoding: string, bytes: Uint8Array): string {
  if (encoding === 'hex') {
    const digits: string[] = []
    for (const byte of bytes) digits.push(byte.toString(16).padStart(2, '0'))
    return digits.join('')
  }
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  const base64 = btoa(binary)
  if (encoding === 'base64') return base64
  if (encoding === 'base64url') return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
  throw new TypeError(`unknown encoding ${encoding}: hex, base64 or base64url`)
}

function equal(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length
  for (let at = 0; at < left.length; at++) difference |= (left[at] ?? 0) ^ (right[at] ?? 0)
  return difference === 0
}
