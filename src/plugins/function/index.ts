import { definePlugin, type Inbound, type Outbound, type PluginKind } from '../../contracts/plugin.ts'
import type { Logger } from '../../contracts/observer.ts'
import type { Platform } from '../../contracts/platform.ts'
import { bytesOf } from '../../core/encoding.ts'
import { headerProblem } from '../../schema/endpoint.ts'
import { object, text } from '../../schema/leaf.ts'
import { mayAnswerWith } from './exit-headers.ts'
import { ownThreadRunner, type Runner, threadRunner } from './runner.ts'
import type { Ending, Line, Subject } from './sandbox.ts'

export interface FunctionOptions {
  /**
   * The compiled `@jitl/quickjs-wasmfile-release-sync/wasm`, for runtimes that cannot compile WebAssembly themselves, such
   * as workerd. Default: the package loads it.
   */
  readonly wasm?: WebAssembly.Module
}

const maxLength = 1024 * 1024
// A byte order mark belongs to what was signed.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Lets a source or an endpoint run JavaScript of its own: `handle()`, in a sandbox that sees the request and nothing else.
 * 32 MiB and 1 s in a thread on Node, Deno and Bun, 50 ms in the request's own thread elsewhere. Needs the packages
 * `quickjs-emscripten-core` and `@jitl/quickjs-wasmfile-release-sync`.
 */
export function functionPlugin({ wasm }: FunctionOptions = {}): PluginKind<{ readonly function: string }> {
  let shared: { readonly runner: Runner; users: number } | undefined

  /** All functions share the threads; they are let go when no function is prepared any more. */
  function open(platform: Platform): Runner {
    shared ??= {
      runner: platform.thread === undefined ? ownThreadRunner(wasm) : threadRunner(platform.thread),
      users: 0,
    }
    const mine = shared
    mine.users++
    let closed = false
    return {
      load: () => mine.runner.load(),
      run: (...call) => mine.runner.run(...call),
      close() {
        if (closed) return
        closed = true
        if (--mine.users > 0) return
        mine.runner.close()
        if (shared === mine) shared = undefined
      },
    }
  }

  return definePlugin({
    name: 'function',
    sides: ['inbound', 'outbound'],
    config: object({ function: text({ min: 1, max: maxLength }) }),

    async load(platform) {
      const runner = open(platform)
      try {
        await runner.load()
      } finally {
        runner.close()
      }
    },

    async verify({ function: source }, platform) {
      const runner = open(platform)
      try {
        const ending = await runner.run({}, { source, subject: null })
        if (ending === 'busy') return { function: 'could not be checked: too many functions are running' }
        if (ending.kind === 'syntax') return { function: ending.message }
        return ending.kind === 'exceeded' ? { function: `exceeds the ${ending.limit} limit of its check` } : null
      } finally {
        runner.close()
      }
    },

    prepare({ function: source }, platform) {
      const runner = open(platform)
      const script = {}

      async function run(subject: Subject, log: Logger, signal: AbortSignal): Promise<Ending | 'busy'> {
        const ending = await runner.run(script, { source, subject }, signal)
        if (ending !== 'busy' && 'lines' in ending) tell(log, ending.lines)
        return ending
      }

      return {
        async inbound(request, { log, signal }) {
          const ending = await run(inboundSubject(request), log, signal)
          if (ending === 'busy') return busy()
          if (ending.kind === 'exit') return exitResponse(ending, log)
          if (ending.kind !== 'done') throw failure(ending)
          return ending.body === undefined ? request : { ...request, body: bytesOf(ending.body) }
        },

        async outbound(request, { log, signal }) {
          const ending = await run(outboundSubject(request), log, signal)
          if (ending === 'busy') throw new Error('too many functions are running')
          if (ending.kind === 'exit') throw new Error('the function called exit')
          if (ending.kind !== 'done') throw failure(ending)
          for (const [name, value] of Object.entries(ending.headers)) {
            const problem = headerProblem(name, value)
            if (problem !== null) throw new Error(`header ${JSON.stringify(name.slice(0, 100))}: ${problem}`)
          }
          const headers = { ...request.headers, ...ending.headers }
          return { ...request, headers, body: ending.body ?? request.body }
        },

        close: runner.close,
      }
    },
  })
}

function inboundSubject({ method, url, path, headers, body }: Inbound): Subject {
  const host = headers.get('host') ?? url.host
  return { side: 'inbound', host, method, path, headers: Object.fromEntries(headers), body: decoder.decode(body) }
}

function outboundSubject({ method, url, headers, body }: Outbound): Subject {
  const { host, pathname } = new URL(url)
  return { side: 'outbound', host, method, path: pathname, headers, body }
}

function exitResponse({ status, headers, body, json }: Extract<Ending, { kind: 'exit' }>, log: Logger): Response {
  if (!Number.isInteger(status) || status < 200 || status > 599) throw new Error('exit: the status is 200 to 599')
  const dropped: string[] = []
  const answer = new Headers(json ? { 'content-type': 'application/json; charset=utf-8' } : {})
  for (const [name, value] of Object.entries(headers)) {
    const problem = headerProblem(name, value)
    if (problem !== null) throw new Error(`exit: header ${JSON.stringify(name.slice(0, 100))}: ${problem}`)
    if (mayAnswerWith(name, status)) answer.set(name, value)
    else dropped.push(name.slice(0, 100))
  }
  if (dropped.length > 0)
    log.warn(`exit: left out headers that no function may set: ${dropped.slice(0, 20).join(', ')}`)
  return new Response([204, 205, 304].includes(status) ? null : body, { status, headers: answer })
}

function busy(): Response {
  return new Response('{"message":"service unavailable"}', {
    status: 503,
    headers: { 'content-type': 'application/json; charset=utf-8', 'retry-after': '1' },
  })
}

function failure(ending: Exclude<Ending, { kind: 'done' | 'exit' }>): Error {
  if (ending.kind === 'exceeded') return new Error(`the function exceeded its ${ending.limit} limit`)
  return new Error(ending.message)
}

function tell(log: Logger, lines: readonly Line[]): void {
  for (const { level, text } of lines) log[level](text)
}
