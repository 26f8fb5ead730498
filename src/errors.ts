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
  | 'unavailable'
  | 'internal'

/** Reasons at the places of a refused body: nested as the body is, with `null` for the good elements of an array. */
export type FieldErrors = { readonly [field: string]: FieldError }
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
  unavailable: 503,
  internal: 500,
}

/**
 * Every error that Posthorn throws on purpose. `message` is for a person and holds no secret; `fields` is there when
 * a body or the parameters of a list were refused place by place.
 */
export class PosthornError extends Error {
  readonly code: ErrorCode
  readonly fields: FieldErrors | undefined

  constructor(code: ErrorCode, message: string, details: { fields?: FieldErrors; cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'PosthornError'
    this.code = code
    this.fields = details.fields
  }
}

/** A body refused at the places that `fields` names. */
export function invalid(fields: FieldErrors): PosthornError {
  return new PosthornError('validation', 'request validation', { fields })
}

/** The refusal of a row whose unique key another row holds, such as `{ ws_id: 'default', name: 'orders' }`. */
export function uniqueViolation(key: Readonly<Record<string, string>>): PosthornError {
  return new PosthornError('unique_violation', `unique constraint violation: ${keyText(key)} already exists`)
}

/** The refusal of a row that points at a record which is not there. */
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
