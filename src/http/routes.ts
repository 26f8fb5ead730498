import { type Call as Function, functionOf, optionName } from '../operations/functions-of.ts'
import type { Method, Operation, OperationName } from '../operations/operation.ts'
import { operations } from '../operations/table.ts'
import { listParameters } from '../schema/page.ts'
import type { Services } from '../services/use-cases.ts'
import { version } from '../version.ts'
import { answerOf } from './answers.ts'
import { readInput } from './inputs.ts'
import type { About } from './openapi.ts'
import { readFlag, readQuery } from './query.ts'
import { json } from './respond.ts'

/** A request that was routed, placed in its workspace and authorized. */
export interface Call {
  readonly services: Services
  readonly request: Request
  readonly url: URL
  /** The id of the workspace that the path names; empty where it names none. */
  readonly workspace: string
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly maxBodyBytes: number
  /** What the host says of the API. */
  readonly about: About
}

export interface Route {
  readonly method: Method
  /** Path parameters begin with a colon. */
  readonly path: string
  /** The name of the service function, as `authorize` hears it. */
  readonly operation: string
  /** Whether the path stands below `/workspaces/:ws_id`, and alone means the workspace `default`. */
  readonly scoped: boolean
  handle(call: Call): Promise<Response>
}

const ofTheApi: readonly Route[] = [
  {
    method: 'GET',
    path: '/',
    operation: 'version',
    scoped: false,
    handle: async () => json(200, { version, message: 'Welcome to Posthorn' }),
  },
  {
    method: 'GET',
    path: '/openapi.json',
    operation: 'openapi',
    scoped: false,
    async handle({ about }) {
      const { openapi } = await import('./openapi.ts')
      return json(200, openapi(routes, about))
    },
  },
]

/** The whole administrative API: what it says of itself, and the operations. */
export const routes: readonly Route[] = [
  ...ofTheApi,
  ...Object.entries(operations).map(([name, operation]) => routeOf(name as OperationName, operation)),
]

/** The route of an operation: reads the arguments, calls the use case, writes the answer. */
function routeOf(name: OperationName, operation: Operation): Route {
  const [method, path] = operation.http.split(' ') as [Method, string] // by the type of Operation
  const scoped = path.startsWith('{P}')
  return {
    method,
    path: path.replace('{P}', '').replace(/\{(\w+)\}/g, ':$1'),
    operation: name,
    scoped,
    async handle(call) {
      const useCase: Function = functionOf(call.services, name)
      const place = [...(scoped ? [call.workspace] : []), ...(path.includes('{id}') ? [call.params['id']] : [])]
      // The error of an unknown id comes before any error of the body.
      if (path.includes('{id}') && operation.input) await functionOf(call.services, getOf(name))(...place)
      return await answerOf(operation, await useCase(...place, ...(await readArguments(call, name, operation))), call)
    },
  }
}

type Noun = keyof typeof listParameters

/** The arguments behind workspace and id. */
async function readArguments(
  { request, url, maxBodyBytes }: Call,
  name: OperationName,
  { list, input, query = [], options = [], texts = [] }: Operation,
): Promise<unknown[]> {
  const args: unknown[] = []
  if (list) args.push(readQuery(url.searchParams, listParameters[nounOf(name) as Noun])) // lists are those of page.ts
  if (input !== undefined) args.push(await readInput(input, request, maxBodyBytes))
  args.push(...query.map((parameter) => url.searchParams.get(parameter) ?? ''))
  const flags = options.map((flag) => [optionName(flag), readFlag(url.searchParams, flag)])
  const given = texts.map((name) => [optionName(name), url.searchParams.get(name) ?? undefined])
  if (flags.length + given.length > 0) args.push(Object.fromEntries([...flags, ...given]))
  return args
}

function nounOf(name: OperationName): string {
  return name.slice(0, name.indexOf('.'))
}

function getOf(name: OperationName): OperationName {
  return `${nounOf(name)}.get` as OperationName // whatever has an id can be retrieved
}
