import { queryPairs } from './core/cursor.ts'
import { sliceProperty } from './core/json-slice.ts'
import { type ErrorCode, type FieldErrors, PosthornError } from './errors.ts'
import { JsonText } from './schema/json-text.ts'
import type { ListInput } from './schema/page.ts'
import type { ResourceService } from './services/services.ts'
import type { ServiceFunctions } from './surface.ts'

// The service functions of an instance elsewhere, asked through its administrative API.

export { type ErrorCode, type FieldErrors, PosthornError } from './errors.ts'
export { JsonText } from './schema/json-text.ts'

/** The service functions, with the names, types and errors they have in the process of the instance. */
export type AdminClient = ServiceFunctions

export interface AdminClientOptions {
  /** Where the administrative API is mounted: `https://ops.example/webhooks/admin`. */
  readonly baseUrl: string
  /** Sent with every request, such as the host's authentication. Default none. */
  readonly headers?: Readonly<Record<string, string>>
  /** Makes the requests, with timeouts and repetitions of its own if it likes. Default: the runtime's `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

type Call = {
  readonly query?: object
  /** A string is JSON already. */
  readonly body?: unknown
}

/**
 * Makes a client of an administrative API. Its functions throw `PosthornError` with the code that the function itself
 * would have thrown; `forbidden` also when the host before the API refuses, `unavailable` when nothing answers.
 * `overloaded` looks like `unavailable` from outside. Nothing is repeated: a write whose answer was lost may have been done.
 */
export function createAdminClient({ baseUrl, headers = {}, fetch: send = fetch }: AdminClientOptions): AdminClient {
  const base = baseUrl.replace(/\/+$/, '')

  async function ask(method: string, path: string, { query = {}, body }: Call = {}): Promise<string> {
    const search = new URLSearchParams(queryPairs(query)).toString()
    const init: RequestInit = {
      method,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }
    let answer: Response
    let text: string
    try {
      answer = await send(`${base}${path}${search === '' ? '' : `?${search}`}`, init)
      text = await answer.text()
    } catch (cause) {
      throw new PosthornError('unavailable', 'the administrative API does not answer', { cause })
    }
    if (answer.ok) return text
    throw refusal(answer.status, text)
  }

  /** The answer is what the service function answers, which the API promises. */
  const call = async <Answer>(method: string, path: string, details?: Call): Promise<Answer> =>
    JSON.parse(await ask(method, path, details)) as Answer

  const at = (workspace: string, ...path: string[]) =>
    ['/workspaces', ...[workspace, ...path].map(encodeURIComponent)].join('/')

  function resource<Row, Input, Query extends ListInput>(noun: string): ResourceService<Row, Input, Query> {
    return {
      list: (workspace, query = {} as Query) => call('GET', at(workspace, noun), { query }),
      create: (workspace, body) => call('POST', at(workspace, noun), { body }),
      get: (workspace, id) => call('GET', at(workspace, noun, id)),
      update: (workspace, id, body) => call('PUT', at(workspace, noun, id), { body }),
      delete: async (workspace, id) => void (await ask('DELETE', at(workspace, noun, id))),
    }
  }

  return {
    workspaces: {
      list: (query = {}) => call('GET', '/workspaces', { query }),
      create: (body) => call('POST', '/workspaces', { body }),
      get: (id) => call('GET', at(id)),
      update: (id, body) => call('PUT', at(id), { body }),
      delete: async (id) => void (await ask('DELETE', at(id))),
    },
    endpoints: {
      ...resource('endpoints'),
      test: (workspace, id, input = {}) =>
        call('POST', at(workspace, 'endpoints', id, 'test'), { body: withDataText(input) }),
      secret: (workspace, id) => call('GET', at(workspace, 'endpoints', id, 'secret')),
      rotateSecret: (workspace, id, body = {}) =>
        call('POST', at(workspace, 'endpoints', id, 'secret', 'rotate'), { body }),
    },
    sources: resource('sources'),
    plugins: resource('plugins'),
    events: {
      list: (workspace, query = {}) => call('GET', at(workspace, 'events'), { query }),
      get: (workspace, id) => call('GET', at(workspace, 'events', id)),
      async raw(workspace, id) {
        return sliceProperty(await ask('GET', at(workspace, 'events', id)), 'data')! // every event has it
      },
      create: (workspace, input) => call('POST', at(workspace, 'events'), { body: withDataText(input) }),
      retry: (workspace, id, endpoint_id) =>
        call('POST', at(workspace, 'events', id, 'retry'), { query: { endpoint_id } }),
      explain: (workspace, id) => call('GET', at(workspace, 'events', id, 'explain')),
      replay: (workspace, body, { dryRun } = {}) =>
        call('POST', at(workspace, 'events', 'replay'), { body, query: { dry_run: dryRun } }),
    },
    attempts: {
      list: (workspace, query = {}) => call('GET', at(workspace, 'attempts'), { query }),
      get: (workspace, id) => call('GET', at(workspace, 'attempts', id)),
    },
    config: {
      sync: (workspace, body, { dryRun } = {}) =>
        call('POST', at(workspace, 'config', 'sync'), { body, query: { dry_run: dryRun } }),
      dump: (workspace, { secrets } = {}) => call('POST', at(workspace, 'config', 'dump'), { query: { secrets } }),
    },
  }
}

/** An input as JSON, in which a `JsonText` stands with its very text. */
function withDataText(input: { readonly data?: unknown }): string {
  const { data, ...rest } = input
  if (!(data instanceof JsonText)) return JSON.stringify(input)
  return `{"data":${data.text}${JSON.stringify(rest)
    .replace(/^\{(?=")/, ',')
    .replace(/^\{/, '')}`
}

const codes: Readonly<Record<number, ErrorCode>> = {
  400: 'validation',
  401: 'forbidden',
  403: 'forbidden',
  404: 'not_found',
  413: 'too_large',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
}
/** How the messages of those codes begin that share a status with `validation`. */
const beginnings: readonly (readonly [string, ErrorCode])[] = [
  ['invalid workspace: ', 'unknown_workspace'],
  ['unique constraint violation: ', 'unique_violation'],
  ['id is taken', 'unique_violation'],
  ['path is taken', 'unique_violation'],
  ['foreign key violation: ', 'foreign_key_violation'],
]

interface ErrorBody {
  readonly message?: unknown
  readonly error?: { readonly message?: unknown; readonly fields?: FieldErrors; readonly '...'?: unknown }
}

function refusal(status: number, text: string): PosthornError {
  const { message, error } = errorBody(text)
  if (error?.fields !== undefined) {
    const more = Number.parseInt(String(error['...']), 10)
    return new PosthornError('validation', String(error.message), {
      fields: error.fields,
      more: Number.isNaN(more) ? undefined : more,
    })
  }
  const sentence = typeof message === 'string' ? message : `the administrative API answered ${status}`
  const special = status === 400 ? beginnings.find(([beginning]) => sentence.startsWith(beginning)) : undefined
  return new PosthornError(special?.[1] ?? codes[status] ?? 'internal', sentence)
}

/** The body of an error; empty when a host or a proxy answered in another form. */
function errorBody(text: string): ErrorBody {
  try {
    return (JSON.parse(text) as ErrorBody | null) ?? {}
  } catch {
    return {}
  }
}
