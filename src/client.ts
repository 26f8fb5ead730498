import { queryPairs } from './core/query-pairs.ts'
import { sliceProperty } from './core/json-slice.ts'
import { type ErrorCode, type FieldErrors, PosthornError } from './errors.ts'
import { withEach } from './operations/each.ts'
import { functionsOf, optionName } from './operations/functions-of.ts'
import type { Operation } from './operations/operation.ts'
import { operations } from './operations/table.ts'
import { withSentences } from './operations/with-sentences.ts'
import type { AnyEvents } from './schema/catalogue.ts'
import { JsonText } from './schema/json-text.ts'
import type { AnyPlugins, PluginInput } from './schema/plugin.ts'
import type { ServiceFunctions } from './surface/functions.ts'

// The service functions of an instance elsewhere, called through the administrative API of that instance.

export { type ErrorBody, type ErrorCode, type FieldErrors, PosthornError } from './errors.ts'
export { JsonText } from './schema/json-text.ts'

/**
 * The service functions, with the names, types and errors they have in the process of the instance. `Catalogue` is the data of
 * each event type: `AdminClient<{ 'invoice.paid': Invoice }>`.
 */
export type AdminClient<Catalogue extends object = AnyEvents> = ServiceFunctions<Catalogue, PluginInput<AnyPlugins>>

export interface AdminClientOptions {
  /** Where the administrative API is mounted: `https://ops.example/webhooks/admin`. */
  readonly baseUrl: string
  /** Sent with every request, such as the host's authentication. Default none. */
  readonly headers?: Readonly<Record<string, string>>
  /** Makes the requests. It may set timeouts and repeat requests as it likes. Default: the runtime's `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /**
   * Sends a fresh `Idempotency-Key` with every POST, so that a `fetch` that repeats requests does nothing twice. It
   * costs the instance two writes a request. Default false.
   */
  readonly idempotencyKeys?: boolean
}

/**
 * Makes a client of an administrative API. Its functions throw `PosthornError` with the code that the same function of
 * the instance would have thrown; `forbidden` also when the host in front of the API refuses, `unavailable` when
 * nothing answers. `overloaded` looks like `unavailable` from outside. Nothing is repeated: a write whose answer was
 * lost may have been done, unless `idempotencyKeys` is set and `fetch` sends it again.
 *
 * @example
 * const client = createAdminClient({ baseUrl: 'https://ops.example/webhooks/admin', headers: { authorization: 'Bearer ...' } })
 * const { data } = await client.endpoints.list('acme')
 */
export function createAdminClient<Catalogue extends object = AnyEvents>({
  baseUrl,
  headers = {},
  fetch: send = fetch,
  idempotencyKeys = false,
}: AdminClientOptions): AdminClient<Catalogue> {
  const base = baseUrl.replace(/\/+$/, '')

  async function ask(method: string, path: string, query: object, body: string | undefined): Promise<Answer> {
    const search = new URLSearchParams(queryPairs(query)).toString()
    const init: RequestInit = {
      method,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKeys && method === 'POST' && { 'idempotency-key': crypto.randomUUID() }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    }
    let answer: Response
    let text: string
    try {
      answer = await send(`${base}${path}${search === '' ? '' : `?${search}`}`, init)
      text = await answer.text()
    } catch (cause) {
      throw new PosthornError('unavailable', 'the administrative API does not answer', { cause })
    }
    if (answer.ok) return { status: answer.status, text }
    throw refusal(answer.status, text, answer.headers?.get('retry-after') ?? null)
  }

  /** Asks for an operation with the arguments of the operation's function. */
  function perform(
    { http, input, list, asks, query = [], options = [], texts = [] }: Operation,
    given: unknown[],
  ): Promise<Answer> {
    const args = [...given]
    const [method = '', path = ''] = http.replace('{P}', '/workspaces/{ws_id}').split(' ')
    const place = path.replace(/\{\w+\}/g, () => encodeURIComponent(String(args.shift())))
    const body = input === undefined ? undefined : bodyOf(args.shift())
    const asked = list || asks ? (args.shift() ?? {}) : Object.fromEntries(query.map((name) => [name, args.shift()]))
    const flags = (args.shift() ?? {}) as Readonly<Record<string, unknown>>
    const chosen = Object.fromEntries([...options, ...texts].map((name) => [name, flags[optionName(name)]]))
    return ask(method, place, { ...asked, ...chosen }, body)
  }

  const functions = functionsOf((_, operation) => async (...args) => {
    const { status, text } = await perform(operation, args)
    if (operation.answers[204] !== undefined) return undefined
    const answer: unknown = JSON.parse(text)
    if (operation === operations['events.create']) return { ...(answer as object), created: status === 201 }
    if (operation === operations['events.createMany']) return (answer as readonly EntryAnswer[]).map(withError)
    return operation.list ? withCursors(answer as object) : answer
  })
  const spoken = withSentences({
    ...functions,
    events: {
      ...functions.events,
      async raw(workspace: string, id: string) {
        const { text } = await perform(operations['events.get'], [workspace, id])
        return sliceProperty(text, 'data')! // every event has it
      },
    },
  })
  return withEach(spoken) as object as AdminClient<Catalogue> // the catalogue narrows types alone
}

interface Answer {
  readonly status: number
  readonly text: string
}

/** An answer to one of many: the row, or the refusal with the status that it would have had alone. */
interface EntryAnswer {
  readonly error?: { readonly status: number }
}

function withError(answer: EntryAnswer): object {
  return answer.error === undefined
    ? answer
    : { error: refusal(answer.error.status, JSON.stringify(answer.error), null) }
}

/** A page whose addresses of the pages beside it are cursors, as the functions in the process answer them. */
function withCursors(page: { readonly next?: string | null; readonly prev?: string | null }): object {
  const cursor = (address: string | null | undefined, name: string) =>
    typeof address === 'string' ? new URL(address, 'http://localhost').searchParams.get(name) : null
  if (page.next === undefined) return page
  return { ...page, next: cursor(page.next, 'after'), prev: cursor(page.prev, 'before') }
}

/** An input as JSON, in which a `JsonText` keeps its very text. A string is JSON already. */
function bodyOf(input: unknown = {}): string {
  if (typeof input === 'string') return input
  if (input === null) return 'null'
  if (Array.isArray(input)) return `[${input.map(bodyOf).join(',')}]`
  const { data, ...rest } = input as { readonly data?: unknown } // an object, whatever it holds
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
  409: 'unavailable', // the same request is in flight
  413: 'too_large',
  422: 'validation',
  429: 'rate_limited',
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

function refusal(status: number, text: string, retryAfter: string | null): PosthornError {
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
  const retryAfterMs = status === 429 && retryAfter !== null ? Number(retryAfter) * 1000 : undefined
  return new PosthornError(special?.[1] ?? codes[status] ?? 'internal', sentence, { retryAfterMs })
}

/** The body of an error; empty when a host or a proxy answered in another form. */
function errorBody(text: string): ErrorBody {
  try {
    return (JSON.parse(text) as ErrorBody | null) ?? {}
  } catch {
    return {}
  }
}
