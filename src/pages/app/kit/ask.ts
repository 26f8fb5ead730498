import { settings } from './settings.ts'

/** Reasons at the places of a refused body. */
export type Fields = { readonly [field: string]: string | null | Fields | readonly (string | null | Fields)[] }

/** What the server refused, or that it did not answer. */
export class AskError extends Error {
  /** 0: no answer came. */
  readonly status: number
  readonly fields: Fields | undefined

  constructor(status: number, message: string, fields?: Fields) {
    super(message)
    this.status = status
    this.fields = fields
  }
}

/** Headers of every request, such as the token of a session. */
export const sent: Record<string, string> = {}

interface Init {
  readonly method?: string
  /** An object is sent as JSON, a text as it is. */
  readonly body?: unknown
  readonly type?: string
  readonly accept?: string
  readonly signal?: AbortSignal
}

async function send(
  path: string,
  { method = 'GET', body, type = 'application/json', accept, signal }: Init,
): Promise<Response> {
  let answer: Response
  try {
    answer = await fetch(`${settings.basePath}${path}`, {
      method,
      headers: { accept: accept ?? 'application/json', ...(body !== undefined && { 'content-type': type }), ...sent },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    })
  } catch (cause) {
    if (signal?.aborted === true) throw cause
    throw new AskError(0, 'The server does not answer.')
  }
  if (answer.ok) return answer
  throw errorOf(answer.status, await answer.text())
}

/** Asks for JSON. */
export async function ask<Answer>(path: string, init: Init = {}): Promise<Answer> {
  const answer = await send(path, init)
  return (answer.status === 204 ? undefined : await answer.json()) as Answer // the caller names the form of the answer
}

const underway = new Map<string, Promise<unknown>>()

/**
 * Asks for JSON that several parts of a view need: parts that ask while the same request is under way share its answer.
 */
export async function askShared<Answer>(path: string): Promise<Answer> {
  const asked = underway.get(path) ?? ask(path).finally(() => underway.delete(path))
  underway.set(path, asked)
  return (await asked) as Answer // the caller names the form of the answer
}

/** Asks for a text as it is. */
export async function askText(path: string, init: Init = {}): Promise<string> {
  return await (await send(path, init)).text()
}

interface ErrorBody {
  readonly message?: string
  readonly error?: { readonly message?: string; readonly fields?: Fields }
}

function errorOf(status: number, text: string): AskError {
  let body: ErrorBody = {}
  try {
    body = JSON.parse(text) as ErrorBody
  } catch {
    // A proxy or the host answered, in another form.
  }
  const { message = `The server answered ${status}.`, error } = body
  return new AskError(
    status,
    error?.fields === undefined ? sentence(message) : 'Some fields need attention.',
    error?.fields,
  )
}

/** A message of the server as a sentence. */
function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?…]$/.test(text) ? text : `${text}.`
}

/** The reasons of a refusal by place, as one list: `request.url` and why. */
export function reasons(fields: Fields | undefined, path = ''): readonly (readonly [place: string, reason: string])[] {
  if (fields === undefined) return []
  return Object.entries(fields).flatMap(([name, value]) => {
    const place = path === '' ? name : `${path}.${name}`
    if (value === null) return []
    if (typeof value === 'string') return [[place, value] as const]
    return reasons(value as Fields, place) // a list is an object by position
  })
}

/** A query string of what is given; empty where nothing is. */
export function query(parameters: Readonly<Record<string, string | number | boolean | null | undefined>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

export function segment(text: string): string {
  return encodeURIComponent(text)
}
