import type { Logger } from '../../contracts/observer.ts'
import { definePlugin, type PluginKind } from '../../contracts/plugin.ts'
import type { Inbound, Outbound } from '../../contracts/request.ts'
import { bytesOf } from '../../core/encoding.ts'
import { oneLine } from '../../core/one-line.ts'
import { PosthornError } from '../../errors.ts'
import { headerProblem } from '../../schema/endpoint.ts'
import { object, text } from '../../schema/fields.ts'
import { mayAnswerWith } from './exit-headers.ts'
import { runnerOf } from '../pool/shared.ts'
import { unavailable } from '../unavailable.ts'
import type { Ending, Line, Subject } from './ending.ts'
import { ownThreadRunner, processRunner, type Runner } from './runner.ts'

export interface FunctionOptions {
  /**
   * A `WebAssembly.Module`: the compiled `@jitl/quickjs-wasmfile-release-sync/wasm`, for runtimes that cannot compile WebAssembly themselves, such
   * as workerd. Default: the package loads it.
   */
  readonly wasm?: object // declarations without the DOM know no WebAssembly
}

const maxLength = 1024 * 1024
// A byte order mark belongs to what was signed.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Lets a source or an endpoint run a JavaScript function, `handle()`, in a sandbox that sees the request and nothing
 * else. 32 MiB and 1 s in a separate process on Node, Deno and Bun, 50 ms in the request's own thread elsewhere. Needs
 * the packages `quickjs-emscripten-core` and `@jitl/quickjs-wasmfile-release-sync`.
 *
 * @example const posthorn = createPosthorn({ plugins: [functionPlugin()] })
 */
export function functionPlugin({ wasm }: FunctionOptions = {}): PluginKind<{ readonly function: string }> {
  const runners = runnerOf<Runner>(({ thread }) =>
    thread === undefined ? ownThreadRunner(wasm) : processRunner(thread),
  )

  return definePlugin({
    name: 'function',
    sides: ['inbound', 'outbound'],
    config: object({ function: text({ min: 1, max: maxLength }) }),

    load: (platform) => runners.use(platform, (runner) => runner.load()),

    verify: ({ function: source }, platform, workspaceId = '') =>
      runners.use(platform, async (runner) => {
        const whose = { script: {}, tenant: { workspace: workspaceId, owner: '' } }
        const ending = await runner.run(whose, { source, subject: null })
        if (ending === 'busy') return { function: 'could not be checked: too many functions are running' }
        if (ending.kind === 'syntax') return { function: ending.message }
        return ending.kind === 'exceeded' ? { function: `exceeds the ${ending.limit} limit of its check` } : null
      }),

    prepare({ function: source }, platform, row) {
      const runner = runners.open(platform)
      const script = {}

      async function run(subject: Subject, about: About): Promise<Ending | 'busy'> {
        const { workspaceId, owner, log, signal, onTurn } = about
        const tenant = { workspace: workspaceId, owner: Object.values(owner)[0] ?? '' }
        const ending = await runner.run({ script, tenant, signal, onTurn }, { source, subject })
        if (ending !== 'busy' && 'lines' in ending && ending.lines.length > 0) {
          const plugin = { plugin: 'function', ...(row === undefined ? {} : { plugin_id: row.id }) }
          tell(log, ending.lines, { workspace_id: workspaceId, ...owner, ...plugin })
        }
        return ending
      }

      return {
        async inbound(request, { log, signal, workspaceId, source }) {
          const ending = await run(inboundSubject(request), {
            workspaceId,
            owner: { source_id: source.id },
            log,
            signal,
          })
          if (ending === 'busy') return unavailable()
          if (ending.kind === 'exit') return exitResponse(ending, log)
          if (ending.kind !== 'done') throw failure(ending)
          return ending.body === undefined ? request : { ...request, body: bytesOf(ending.body) }
        },

        async outbound(request, { log, signal, workspaceId, endpoint, pause }) {
          const owner = { endpoint_id: endpoint.id }
          const onTurn = pause?.()
          const ending = await run(outboundSubject(request), { workspaceId, owner, log, signal, onTurn })
          if (ending === 'busy') throw new PosthornError('overloaded', 'too many functions are running')
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

interface About {
  readonly workspaceId: string
  readonly owner: { readonly source_id: string } | { readonly endpoint_id: string }
  readonly log: Logger
  readonly signal: AbortSignal
  readonly onTurn?: (() => void) | undefined
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

function failure(ending: Exclude<Ending, { kind: 'done' | 'exit' }>): Error {
  if (ending.kind === 'exceeded') return new Error(`the function exceeded its ${ending.limit} limit`)
  return new Error(ending.message)
}

function tell(log: Logger, lines: readonly Line[], details: Readonly<Record<string, string>>): void {
  for (const { level, text } of lines) log[level](oneLine(text), details)
}
