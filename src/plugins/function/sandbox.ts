import type { QuickJSHandle, QuickJSSyncVariant } from 'quickjs-emscripten-core'

import type { HashName } from '../../contracts/platform.ts'

type QuickJS = typeof import('quickjs-emscripten-core')

/** What a function sees of the request or the delivery. Header names are lower-case. */
export interface Subject {
  readonly side: 'inbound' | 'outbound'
  readonly host: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** One run of a function; without a subject its syntax is checked and nothing runs. */
export interface Run {
  readonly source: string
  readonly subject: Subject | null
  readonly timeMs: number
}

export interface Line {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly text: string
}

/** How a run ended. Everything in it but `kind` comes from the function and is not to be trusted. */
export type Ending =
  | {
      readonly kind: 'done'
      readonly lines: readonly Line[]
      /** What the function set; missing where it set nothing. */
      readonly body?: string
      readonly headers: Readonly<Record<string, string>>
    }
  | {
      readonly kind: 'exit'
      readonly lines: readonly Line[]
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
      /** Whether the body was given as a value, not as a string. */
      readonly json: boolean
    }
  | { readonly kind: 'syntax'; readonly message: string }
  | { readonly kind: 'thrown'; readonly lines: readonly Line[]; readonly message: string }
  /** It exceeded its time, its memory or its stack. */
  | { readonly kind: 'exceeded'; readonly lines: readonly Line[]; readonly limit: 'time' | 'memory' | 'stack' }

export type Sandbox = (run: Run) => Promise<Ending>

/**
 * Runs functions in QuickJS, each in a runtime of its own that ends with the call, inside a WebAssembly memory of at most
 * 32 MiB. Whatever ends badly takes its instance with it.
 *
 * The text of this very function is what a thread runs, so it refers to nothing outside itself, and imports no value.
 */
export function makeSandbox(
  { newQuickJSWASMModuleFromVariant, newVariant }: QuickJS,
  variant: QuickJSSyncVariant,
  hmac: (hash: HashName, key: Uint8Array, data: Uint8Array) => Uint8Array,
  wasmModule?: WebAssembly.Module,
): Sandbox {
  const pageBytes = 65_536
  const memoryBytes = 32 * 1024 * 1024
  const stackBytes = 256 * 1024
  /** What is taken for a millisecond where the clock stands still while code runs, as on some edge platforms. */
  const pollsPerMs = 10
  /** What it may do however late it is: on a busy machine the time of a short run is mostly that of others. */
  const freePolls = 4
  const maxLines = 100
  const maxLineLength = 1000

  // Runs inside, before the function does: makes its globals, of which only `host` reaches out, by JSON texts.
  const prelude = `(function (host, subjectText) {
    'use strict'
    const { parse, stringify } = JSON, { isView } = ArrayBuffer, { hasOwn, keys } = Object, ThisPromise = Promise
    const subject = parse(subjectText), { headers } = subject
    const changes = { headers: {} }
    const plain = (value) => {
      if (typeof value === 'string') return value
      if (value instanceof ArrayBuffer) value = new Uint8Array(value)
      if (value instanceof Uint8Array || Array.isArray(value)) return Array.from(value)
      throw new TypeError('a string or bytes are due')
    }
    const texts = (what, value) => {
      const answer = {}
      for (const key of keys(value ?? {})) {
        if (value[key] === null || value[key] === undefined) continue
        if (typeof value[key] === 'object') throw new TypeError(what + ' are strings')
        answer[key] = String(value[key])
      }
      return answer
    }
    const bodyOf = (value) => (typeof value === 'string' ? value : value === undefined ? '' : stringify(value) ?? '')
    const ask = (name, ...values) => parse(host(name, stringify(values)))
    const shown = (value) => {
      if (typeof value === 'string') return value
      if (value instanceof Error) return String(value)
      try { return stringify(value) ?? String(value) } catch { return String(value) }
    }
    const log = (level) => (...values) => { ask('log', level, values.map(shown).join(' ')) }
    const request = {
      getHost: () => subject.host,
      getMethod: () => subject.method,
      getPath: () => subject.path,
      getHeaders: () => ({ ...headers, ...changes.headers }),
      getHeader: (name) => {
        const key = String(name).toLowerCase()
        return hasOwn(changes.headers, key) ? changes.headers[key] : hasOwn(headers, key) ? headers[key] : null
      },
      getBody: () => (hasOwn(changes, 'body') ? changes.body : subject.body),
      setBody: (value) => {
        if (subject.body === null) throw new TypeError('a ' + subject.method + ' request carries no body')
        changes.body = bodyOf(value)
      },
    }
    if (subject.side === 'outbound') {
      request.setHeader = (name, value) => { changes.headers[String(name).toLowerCase()] = String(value) }
    }
    globalThis.webhookx = {
      request,
      response: {
        exit: (status = 200, headers = {}, body = '') => {
          ask('exit', { status: Number(status), headers: texts('headers', headers), body: bodyOf(body), json: typeof body !== 'string' })
        },
      },
      utils: {
        hmac: (algorithm, key, data) => new Uint8Array(ask('hmac', String(algorithm), plain(key), plain(data))),
        encode: (encoding, value) => ask('encode', String(encoding), plain(value)),
        timingSafeEqual: (one, other) => ask('equal', plain(one), plain(other)),
      },
      log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    }
    globalThis.console = { log: log('info'), debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
    return (result) => {
      if (result instanceof ThisPromise) throw new TypeError('handle() must not be async')
      return stringify(changes)
    }
  })`

  let instance: ReturnType<typeof newQuickJSWASMModuleFromVariant> | undefined

  const freshInstance = () => {
    const wasmMemory = new WebAssembly.Memory({ initial: 256, maximum: memoryBytes / pageBytes })
    const options = wasmModule === undefined ? { wasmMemory } : { wasmMemory, wasmModule }
    return newQuickJSWASMModuleFromVariant(newVariant(variant, options))
  }

  const utf8 = (value: unknown): Uint8Array =>
    typeof value === 'string' ? new TextEncoder().encode(value) : Uint8Array.from(value as number[]) // `plain` made it

  const hashNames: readonly string[] = ['md5', 'sha-1', 'sha-256', 'sha-512'] satisfies HashName[]

  /** The questions of the prelude, answered with JSON values. Values are what the function made of them. */
  const answers: Readonly<Record<string, (...values: never[]) => unknown>> = {
    hmac: (algorithm: string, key: unknown, data: unknown) => {
      const hash = algorithm.toLowerCase()
      if (!hashNames.includes(hash))
        throw new TypeError(`unknown algorithm ${algorithm}: SHA-1, SHA-256, SHA-512 or MD5`)
      return Array.from(hmac(hash as HashName, utf8(key), utf8(data)))
    },
    encode: (encoding: string, value: unknown) => {
      const bytes = utf8(value)
      if (encoding === 'hex') return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
      let binary = ''
      for (const byte of bytes) binary += String.fromCharCode(byte)
      const base64 = btoa(binary)
      if (encoding === 'base64') return base64
      if (encoding === 'base64url') return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
      throw new TypeError(`unknown encoding ${encoding}: hex, base64 or base64url`)
    },
    equal: (one: unknown, other: unknown) => {
      const left = utf8(one)
      const right = utf8(other)
      let difference = left.length ^ right.length
      for (let at = 0; at < left.length; at++) difference |= (left[at] ?? 0) ^ (right[at] ?? 0)
      return difference === 0
    },
  }

  /** The strings of what the function may have made of a record of strings. */
  const textsOf = (value: unknown): Record<string, string> =>
    Object.fromEntries(
      Object.entries(Object(value) as object).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      ),
    )

  type Exit = Extract<Ending, { kind: 'exit' }>
  type Uncertain = { name?: unknown; message?: unknown; stack?: unknown }

  const described = ({ name, message, stack }: Uncertain): string => {
    const place = typeof stack === 'string' ? /function\.js:(\d+):(\d+)/.exec(stack) : null
    const what = typeof message === 'string' ? message : `${JSON.stringify(message)} was thrown`
    const text = typeof name === 'string' ? `${name}: ${what}` : what
    return text.slice(0, 400) + (place === null ? '' : ` (line ${place[1]}, column ${place[2]})`)
  }

  return async ({ source, subject, timeMs }) => {
    const lines: Line[] = []
    instance ??= freshInstance()
    let quickjs
    try {
      quickjs = await instance
    } catch (cause) {
      instance = undefined
      throw cause
    }
    // Put back only by an end that leaves nothing behind.
    instance = undefined
    const runtime = quickjs.newRuntime({ maxStackSizeBytes: stackBytes })
    const context = runtime.newContext()
    let exit: Exit | undefined
    let polls = 0
    let late = false
    const started = performance.now()
    runtime.setInterruptHandler(() => {
      polls++
      if (late || exit !== undefined) return true
      const tookMs = performance.now() - started
      return (late = polls > freePolls && (tookMs === 0 ? polls / pollsPerMs : tookMs) > timeMs)
    })

    const held: QuickJSHandle[] = []
    const hold = (handle: QuickJSHandle) => {
      held.push(handle)
      return handle
    }
    /** Answers the handle of a result, or throws what the code inside threw, as plain data. */
    const open = (result: { error?: QuickJSHandle | undefined; value?: QuickJSHandle }): QuickJSHandle => {
      if (result.error === undefined) return hold(result.value!)
      const thrown: unknown = context.dump(hold(result.error))
      // With no memory left for an error, the engine throws null.
      const inside = thrown === null ? { message: 'out of memory' } : thrown
      throw { inside: typeof inside === 'object' ? inside : { message: inside } }
    }

    const runInside = (): Ending => {
      if (subject === null) {
        open(context.evalCode(source, 'function.js', { type: 'global', compileOnly: true }))
        return { kind: 'done', lines, headers: {} }
      }
      const host = context.newFunction('host', (name, values) => {
        const question = context.getString(name)
        const given = JSON.parse(context.getString(values)) as unknown[]
        if (exit !== undefined) throw new Error('the function has ended')
        if (question === 'log') {
          const [level, text] = given as [Line['level'], unknown]
          if (lines.length < maxLines) lines.push({ level, text: String(text).slice(0, maxLineLength) })
          return context.newString('null')
        }
        if (question === 'exit') {
          const { status, headers, body, json } = given[0] as Record<keyof Exit, unknown>
          exit = {
            kind: 'exit',
            lines,
            status: Number(status),
            headers: textsOf(headers),
            body: String(body),
            json: json === true,
          }
          throw new Error('the function has ended')
        }
        return context.newString(JSON.stringify(answers[question]?.(...(given as never[]))))
      })
      const prepared = open(context.evalCode(prelude, 'prelude.js', { type: 'global' }))
      const text = hold(context.newString(JSON.stringify(subject)))
      const finish = open(context.callFunction(prepared, context.undefined, hold(host), text))
      open(context.evalCode(source, 'function.js', { type: 'global' }))
      const call = "if (typeof handle !== 'function') throw new TypeError('handle() is not defined'); handle()"
      const result = open(context.evalCode(call, 'call.js', { type: 'global' }))
      const changes = open(context.callFunction(finish, context.undefined, result))
      const { headers, body } = Object(JSON.parse(context.getString(changes))) as { headers?: unknown; body?: unknown }
      return { kind: 'done', lines, headers: textsOf(headers), ...(typeof body === 'string' ? { body } : {}) }
    }

    let ending: Ending
    try {
      ending = runInside()
      if (exit !== undefined) ending = exit
    } catch (thrown) {
      if (exit !== undefined) ending = exit
      else if (late) ending = { kind: 'exceeded', lines, limit: 'time' }
      else if (typeof thrown === 'object' && thrown !== null && 'inside' in thrown) {
        const error = thrown.inside as Uncertain
        if (error.message === 'out of memory') ending = { kind: 'exceeded', lines, limit: 'memory' }
        else if (error.message === 'stack overflow') ending = { kind: 'exceeded', lines, limit: 'stack' }
        else if (subject === null) ending = { kind: 'syntax', message: described(error) }
        else ending = { kind: 'thrown', lines, message: described(error) }
      }
      // The engine itself gave up: its parser has no stack check, and its allocations from outside have no error to throw.
      else ending = { kind: 'exceeded', lines, limit: thrown instanceof RangeError ? 'stack' : 'memory' }
    }
    if (ending.kind === 'exceeded') return ending
    try {
      for (const handle of held) handle.dispose()
      context.dispose()
      runtime.dispose()
      instance = Promise.resolve(quickjs)
    } catch {
      // What cannot be taken apart is left to the garbage collector, and the next run gets an instance of its own.
    }
    return ending
  }
}
