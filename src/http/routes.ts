import { PosthornError } from '../errors.ts'
import { isChange, subjectOf } from '../operations/changes.ts'
import { type Call as Function, functionOf, optionName } from '../operations/functions-of.ts'
import type { Method, Operation, OperationName } from '../operations/operation.ts'
import { operations } from '../operations/table.ts'
import { lazy } from '../runtime/lazy.ts'
import { listParameters, statsParameters } from '../schema/page.ts'
import { version } from '../version.ts'
import { answerOf } from './answers.ts'
import { readInput } from './inputs.ts'
import { readFlag, readQuery } from './query.ts'
import { json } from './respond.ts'
import type { Call, Route } from './route.ts'
import { takesKey } from './takes-idempotency-key.ts'

const keyedRequests = lazy(() => import('./keyed-request.ts'))
const openapiDocument = lazy(() => import('./openapi.ts'))

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
      const { openapi } = await openapiDocument()
      return json(200, openapi(routes, about))
    },
  },
]

/** Operations that read much, beside lists and statistics. None that writes: a write may take minutes, and would keep a place. */
const readsMuch: ReadonlySet<OperationName> = new Set(['config.dump', 'events.explain'])

/** The whole administrative API: what it says of itself, and the operations. */
export const routes: readonly Route[] = [
  ...ofTheApi,
  ...Object.entries(operations).map(([name, operation]) => routeOf(name as OperationName, operation)),
]

/** The route of an operation: reads the arguments, calls the use case, writes the answer. */
function routeOf(name: OperationName, operation: Operation): Route {
  const [method, path] = operation.http.split(' ') as [Method, string] // by the type of Operation
  const scoped = path.startsWith('{P}')
  const ids = [...path.matchAll(/\{([a-z_]+)\}/g)].map(([, name]) => name!) // the group matched
  const hasId = ids.includes('id')
  const isReading = operation.list === true || operation.asks !== undefined || readsMuch.has(name)
  const read = (call: Call) => readArguments(call, name, operation)
  async function perform(call: Call, args: readonly unknown[]): Promise<unknown> {
    const useCase: Function = functionOf(call.services, name)
    const work = async (): Promise<unknown> => await useCase(...args)
    const answer = await (isReading ? call.reading.run(call.workspace, call.request.signal, work) : work())
    if (isChange(operation, args, answer)) call.tell({ operation: name, ...subjectOf(operation, args, answer) })
    return answer
  }
  return {
    method,
    path: path.replace('{P}', '').replace(/\{(\w+)\}/g, ':$1'),
    operation: name,
    scoped,
    async handle(call) {
      const place = [...(scoped ? [call.workspace] : []), ...ids.map((name) => call.params[name])]
      try {
        const key = takesKey(operation) ? call.request.headers.get('idempotency-key') : null
        if (key !== null) {
          const { once } = await keyedRequests()
          return await once({ key, call, name, operation, place, read, perform: (args) => perform(call, args) })
        }
        return await answerOf(operation, await perform(call, [...place, ...(await read(call))]), call)
      } catch (cause) {
        // The error of an unknown id comes before any error of the body.
        if (hasId && operation.input && isRefusedBody(cause)) await functionOf(call.services, getOf(name))(...place)
        throw cause
      }
    },
  }
}

function isRefusedBody(cause: unknown): boolean {
  return cause instanceof PosthornError && (cause.code === 'validation' || cause.code === 'too_large')
}

type Noun = keyof typeof listParameters

/** The arguments behind workspace and id. */
async function readArguments(
  call: Call,
  name: OperationName,
  { list, input, asks, query = [], options = [], texts = [] }: Operation,
): Promise<unknown[]> {
  const { url } = call
  const args: unknown[] = []
  if (list) args.push(readQuery(url.searchParams, listParameters[nounOf(name) as Noun])) // lists are those of page.ts
  if (asks !== undefined) args.push(readQuery(url.searchParams, statsParameters[asks]))
  if (input !== undefined) args.push(await readInput(input, call))
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
