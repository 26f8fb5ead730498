/** What went wrong, for a program to switch on. */
export type ErrorCode =
  | 'validation'
  | 'not_found'
  | 'unknown_workspace'
  | 'unique_violation'
  | 'foreign_key_violation'
  | 'too_large'
  | 'forbidden'
  | 'transaction_required'
  | 'overloaded'
  | 'rate_limited'
  | 'serialization_failure'
  | 'deadlock'
  | 'timeout'
  | 'unavailable'
  | 'internal'

/** The most reasons that an error lists; of further reasons it gives the number. */
export const maxReasons = 100
/** How many reasons a tree of them leaves out. A symbol, since every text can be a field. */
export const unlisted: unique symbol = Symbol('unlisted reasons')

/** Reasons at the places of a refused body: nested as the body is, with `null` for the good elements of an array. */
export type FieldErrors = { readonly [field: string]: FieldError; readonly [unlisted]?: number }
export type FieldError = string | null | FieldErrors | readonly FieldError[]

/** The HTTP status that stands for each code. */
export const statusOfCode: Readonly<Record<ErrorCode, number>> = {
  validation: 400,
  not_found: 404,
  unknown_workspace: 400,
  unique_violation: 400,
  foreign_key_violation: 400,
  too_large: 413,
  forbidden: 403,
  transaction_required: 400,
  overloaded: 503,
  rate_limited: 429,
  serialization_failure: 503,
  deadlock: 503,
  timeout: 503,
  unavailable: 503,
  internal: 500,
}

/** What the administrative API answers to an error. */
export interface ErrorBody {
  /** What went wrong; `Request Validation` where `error` tells more. */
  readonly message: string
  /** The reasons at the places of the body, where a body or parameters were refused; `...` counts those left out. */
  readonly error?: { readonly message: string; readonly fields: FieldErrors; readonly '...'?: string }
}

/**
 * Every error that Posthorn throws on purpose. `message` is a sentence for a person and holds no secret; `fields` is
 * set when a body or the parameters of a list were refused place by place, `more` when more reasons exist than `fields`
 * holds. `details` are the ids that the call named, such as `{ workspace, endpoint }`; `body` is what the
 * administrative API answers. `cause` is what `bareError` makes of the cause.
 */
export class PosthornError extends Error {
  /** What went wrong, for a program to switch on. */
  readonly code: ErrorCode
  /** The reasons at the places of the refused body. */
  readonly fields: FieldErrors | undefined
  /** How many reasons `fields` leaves out. */
  readonly more: number | undefined
  /** The ids that the call named, such as `{ workspace, endpoint }`. */
  readonly details: Readonly<Record<string, string>>
  /** What the administrative API answers to this error. */
  readonly body: ErrorBody
  /** Of `rate_limited`: in how many milliseconds the same may pass. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: ErrorCode,
    message: string,
    details: {
      fields?: FieldErrors | undefined
      more?: number | undefined
      cause?: unknown
      ids?: Readonly<Record<string, string>>
      body?: ErrorBody
      retryAfterMs?: number | undefined
    } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: bareError(details.cause) })
    this.name = 'PosthornError'
    this.code = code
    this.fields = details.fields
    this.more = details.more
    this.details = details.ids ?? {}
    this.body = details.body ?? bodyOf(message, details.fields, details.more)
    this.retryAfterMs = details.retryAfterMs
  }

  /** The same error with another sentence. This error stays as it is, since several callers may get the same error. */
  retold(message: string, ids: Readonly<Record<string, string>>): PosthornError {
    const { code, fields, more, cause, body, retryAfterMs, stack } = this
    const told = { fields, more, ids, body, retryAfterMs }
    const error = new PosthornError(code, message, { ...told, ...(cause !== undefined && { cause }) })
    const lines = stack?.slice(stack.indexOf('\n    at ')) // where it happened, which is not here
    if (stack?.includes('\n    at ')) error.stack = `${error.name}: ${message}${lines}`
    return error
  }
}

function bodyOf(message: string, fields: FieldErrors | undefined, more: number | undefined): ErrorBody {
  if (fields === undefined) return { message }
  const left = more === undefined ? {} : { '...': `${more} more` }
  return { message: 'Request Validation', error: { message, fields, ...left } }
}

const retryableCodes: ReadonlySet<unknown> = new Set<ErrorCode>([
  'overloaded',
  'rate_limited',
  'serialization_failure',
  'deadlock',
  'timeout',
  'unavailable',
])
/** A serialization failure and a deadlock, as PostgreSQL says them. */
const retryableStates: ReadonlySet<unknown> = new Set(['40001', '40P01'])

/**
 * Whether the same may succeed when it is done once more: a call outside a transaction, or the host's whole transaction
 * from `begin` on. It takes what Posthorn throws, and what a PostgreSQL driver throws, at the `commit` too.
 *
 * @example
 * try {
 *   await posthorn.events.create('acme', event)
 * } catch (error) {
 *   if (!isRetryable(error)) throw error
 *   await queueForLater(event)
 * }
 */
export function isRetryable(error: unknown): boolean {
  if (error instanceof PosthornError) return retryableCodes.has(error.code)
  const { code, errno } = (error ?? {}) as { readonly code?: unknown; readonly errno?: unknown } // of whatever was thrown
  return retryableStates.has(code) || retryableStates.has(errno)
}

/** A body refused at the places that `fields` names: at the first hundred of them, in their order. */
export function invalid(fields: FieldErrors): PosthornError {
  const left = { room: maxReasons, more: 0 }
  const listed = firstReasons(fields, left) as FieldErrors // the root is an object with at least one reason
  return new PosthornError(
    'validation',
    'request validation',
    left.more === 0 ? { fields } : { fields: listed, more: left.more },
  )
}

/** As much of a tree as fits, or undefined when nothing fits. What is left out is counted. */
function firstReasons(error: FieldError, left: { room: number; more: number }): FieldError | undefined {
  if (error === null) return null
  if (typeof error === 'string') {
    if (left.room === 0) {
      left.more++
      return undefined
    }
    left.room--
    return error
  }
  if (Array.isArray(error)) {
    const items: (FieldError | undefined)[] = error.map((item: FieldError) => firstReasons(item, left))
    const last = items.findLastIndex((item) => item !== undefined && item !== null)
    return last === -1 ? undefined : items.slice(0, last + 1).map((item) => item ?? null)
  }
  const fields = error as FieldErrors
  const entries = Object.entries(fields).map(([key, item]) => [key, firstReasons(item, left)] as const)
  left.more += fields[unlisted] ?? 0
  const kept = entries.filter(([, item]) => item !== undefined && item !== null)
  if (kept.length === 0) return undefined
  return Object.assign(Object.create(null), Object.fromEntries(kept)) as FieldErrors
}

/** The refusal of a row whose unique key another row holds, such as `{ ws_id: 'default', name: 'orders' }`. */
export function uniqueViolation(key: Readonly<Record<string, string>>): PosthornError {
  return new PosthornError('unique_violation', `unique constraint violation: ${keyText(key)} already exists`)
}

/** The refusal of a row that points at a record which does not exist. */
export function foreignKeyViolation(key: Readonly<Record<string, string>>, references: string): PosthornError {
  return new PosthornError(
    'foreign_key_violation',
    `foreign key violation: ${keyText(key)} does not reference an existing record in '${references}'`,
  )
}

/** The refusal of an id that names nothing here. */
export function notFound(): PosthornError {
  return new PosthornError('not_found', 'Not found')
}

function keyText(key: Readonly<Record<string, string>>): string {
  return `{${Object.entries(key)
    .map(([name, value]) => `${name}='${value}'`)
    .join(',')}}`
}

/**
 * An error as it may be logged or passed on: only the name, message, stack, code and causes. Drivers put whole rows and
 * commands into their errors, and with them secrets and payloads. A value that is no error stays as it is.
 */
export function bareError(error: unknown): unknown {
  return bareTo(8, error)
}

function bareTo(depth: number, error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, code, errno } = error as Error & { readonly code?: unknown; readonly errno?: unknown }
  // A cause may lead back to where it came from.
  const cause = error.cause === undefined || depth === 0 ? {} : { cause: bareTo(depth - 1, error.cause) }
  const bare = new Error(message, cause)
  for (const [key, value] of Object.entries({ name, stack })) {
    Object.defineProperty(bare, key, { value, configurable: true, writable: true })
  }
  return Object.assign(bare, plain({ code }), plain({ errno }))
}

function plain(entry: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.values(entry).every((value) => typeof value === 'string' || typeof value === 'number') ? entry : {}
}
