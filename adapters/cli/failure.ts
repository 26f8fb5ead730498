/**
 * A command could not do what it was asked to: exit code 1. The message is a sentence for the person who ran the
 * command.
 */
export class Failure extends Error {
  override readonly name = 'Failure'
}

/** The command was called wrongly: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A `PosthornError`, recognised by its members: each entry of the package has a class of its own with this name. */
interface Refusal {
  readonly code: string
  readonly message: string
  readonly fields?: unknown
}

function isRefusal(error: Error): error is Error & Refusal {
  return error.name === 'PosthornError'
}

/** A sentence that says what went wrong, the fields at fault included. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message } = error
  if (!isRefusal(error)) return message
  // The client of the administrative API keeps the cause, which names the url.
  if (error.code === 'unavailable' && error.cause instanceof Error && error.cause.message.includes('--url')) {
    return error.cause.message
  }
  // The sentences of functions name the fields; what an engine says by itself does not.
  const reasons = message === 'request validation' ? reasonsOf(error.fields) : []
  return reasons.length === 0 ? message : `${message}: ${reasons.join('; ')}`
}

/** The reasons of a validation error, each with its place: `endpoints[1].request.url: required field missing`. */
function reasonsOf(fields: unknown, place = ''): string[] {
  if (fields === null || fields === undefined) return []
  if (typeof fields === 'string') return [place === '' ? fields : `${place}: ${fields}`]
  if (Array.isArray(fields)) return fields.flatMap((each, i) => reasonsOf(each, `${place}[${i}]`))
  return Object.entries(fields).flatMap(([key, each]) => reasonsOf(each, place === '' ? key : `${place}.${key}`))
}
