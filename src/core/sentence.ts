import type { FieldError, FieldErrors, PosthornError } from '../errors.ts'
import { idPattern } from '../schema/shared.ts'

const shortest = 3

/**
 * The message of the error that a failed function throws to its caller. Values appear in it only where they hold no
 * secret.
 */
export function sentence(operation: string, args: readonly unknown[], error: PosthornError): string {
  const { code, body, fields } = error
  const workspace = quoted(args[0])
  if (code === 'unknown_workspace' && typeof args[0] !== 'string') {
    return `${operation}: the first argument must be the id or the name of a workspace (got ${workspace})`
  }
  if (code === 'unknown_workspace') return `workspace ${workspace} does not exist; ${creation(args[0])}`
  if (code === 'not_found') {
    const [group = ''] = operation.split('.')
    if (group === 'workspaces') return `workspace ${workspace} not found; ${creation(args[0])}`
    return `${nounOf(group)} ${quoted(args[1])} not found in workspace ${workspace}`
  }
  if (code === 'unique_violation') return `${operation}: ${taken(operation, body.message)}`
  if (code === 'foreign_key_violation') return `${operation}: ${dangling(body.message)}`
  if (code !== 'validation') return error.message
  if (operation === 'events.retry' && body.message === 'endpoint not found') {
    return `${operation}: endpoint ${quoted(args[2])} not found in workspace ${workspace}`
  }
  const input = args.find((arg) => typeof arg === 'object' && arg !== null) ?? args.at(-1)
  if (fields === undefined) return `${operation}: ${reason('the input', body.message, undefined)}`
  const reasons = [...reasonsOf(fields, [])]
  if (reasons.length === 0) return `${operation}: ${body.error?.message}`
  const first = reasons.slice(0, shortest).map(([path, text]) => reasonAt(operation, path, text, input))
  const left = reasons.length - first.length + (error.more ?? 0)
  return `${operation}: ${first.join('; ')}${left > 0 ? `; and ${left} more, see error.fields` : ''}`
}

function creation(idOrName: unknown): string {
  const key = typeof idOrName === 'string' && idPattern.test(idOrName) ? 'id' : 'name'
  return `create it with workspaces.create({ ${key}: ${quoted(idOrName)} })`
}

/** The ids that the caller passed. */
export function idsOf(operation: string, args: readonly unknown[]): Readonly<Record<string, string>> {
  const [group = ''] = operation.split('.')
  const ids: Record<string, unknown> = { workspace: args[0] }
  // The second argument of a list, a create and others is no id, and is left out below.
  if (group !== 'workspaces') ids[nounOf(group)] = args[1]
  if (operation === 'events.retry') ids['endpoint'] = args[2]
  return Object.fromEntries(
    Object.entries(ids).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

function nounOf(group: string): string {
  return group.replace(/ies$/, 'y').replace(/s$/, '')
}

/** `{ws_id='default',name='orders'}` of a message, without the workspace. */
function keyOf(message: string): [name: string, value: string][] {
  const pairs = [...message.matchAll(/(\w+)='([^']*)'/g)].map(([, name, value]): [string, string] => [name!, value!])
  return pairs.filter(([name]) => name !== 'ws_id')
}

function taken(operation: string, message: string): string {
  const [group = ''] = operation.split('.')
  const key = keyOf(message)
  if (key.length === 0) return message
  const noun = group === 'config' ? 'entry' : nounOf(group)
  const pairs = key.map(([name, value]) => `${name} ${quoted(value)}`).join(' and ')
  return `another ${noun} has ${pairs}; choose a different ${key.at(-1)![0]}, or update that ${noun}`
}

function dangling(message: string): string {
  const [pair] = keyOf(message)
  if (pair === undefined) return message
  const [name, value] = pair
  return `${name} ${quoted(value)} names no ${nounOf(name.replace(/_id$/, ''))} of the workspace`
}

/** Every reason of a tree, each with the path to it. */
function* reasonsOf(error: FieldError, path: readonly (string | number)[]): Generator<[(string | number)[], string]> {
  if (error === null) return
  if (typeof error === 'string') yield [[...path], error]
  else if (Array.isArray(error))
    for (const [at, item] of error.entries()) yield* reasonsOf(item as FieldError, [...path, at])
  else for (const [key, item] of Object.entries(error as FieldErrors)) yield* reasonsOf(item, [...path, key])
}

function reasonAt(operation: string, path: readonly (string | number)[], text: string, input: unknown): string {
  if (path[0] === '@params') {
    // A reason of a parameter begins with the name of the parameter.
    const [, name = '', rest = text] = /^([^:]+): (.*)$/s.exec(text) ?? []
    return reason(name, rest, undefined)
  }
  // Of an entry that has neither, the reason stands at the name.
  const place = text === 'id or name is required' ? path.slice(0, -1) : path
  return reason(pathText(place), text, shown(operation, place, text, input))
}

function pathText(path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`),
    '',
  )
}

/** Where secrets may stand: nothing of it is repeated in a message. */
const secretPlaces = new Set<string | number>(['config', 'plugins', 'headers', 'data', 'metadata'])

/** The value that was refused, when it is short and cannot be a secret. */
function shown(
  operation: string,
  path: readonly (string | number)[],
  text: string,
  input: unknown,
): string | undefined {
  if (path.some((step) => secretPlaces.has(step)) || text.includes('credentials')) return undefined
  if (operation.startsWith('plugins.') && path[0] !== 'name') return undefined
  let value = input
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Readonly<Record<string | number, unknown>>)[step]
  }
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined
  const json = JSON.stringify(value)
  return json.length > 80 || json.includes('@') || json.includes('?') ? undefined : json
}

const phrases: readonly (readonly [RegExp, string])[] = [
  [/^required field missing$/, 'is required'],
  [/^Value is not nullable$/, 'must not be null'],
  [/^property is unsupported$/, 'is not a known property'],
  [/^value is not one of the allowed values \[(.*)\]$/, 'must be one of $1'],
  [/^(?:value|number) must (.*)$/, 'must $1'],
  [/^unknown plugin name ''$/, 'is required'],
  [/^unknown plugin name .*$/s, 'names no plugin that is built in or registered'],
  [/^header cannot be set$/, 'cannot be set'],
  [/^invalid header (name|value)$/, 'is no valid header $1'],
  [/^value (holds|cannot) (.*)$/s, '$1 $2'],
  [/^minimum (?:string length is|number of items is) 1$/, 'must not be empty'],
  [/^minimum string length is (\d+)$/, 'must have at least $1 characters'],
  [/^(?:maximum string length is|length must be at most) (\d+)$/, 'must have at most $1 characters'],
  [/^minimum number of (items|properties) is (\d+)$/, 'must have at least $2 $1'],
  [/^maximum number of (items|properties) is (\d+)$/, 'must have at most $2 $1'],
  [/^maximum length of all names and values is (\d+)$/, 'must have at most $1 characters in all names and values'],
  [/^duplicate items found$/, 'must not hold an item twice'],
  [/^invalid cursor$/, 'must be a cursor that an earlier answer gave'],
  [/^is empty$/, 'must not be empty'],
  [/^unknown bound$/, 'is not a known bound; the bounds are gt, gte, lt and lte'],
]

/** A reason with its subject: `request.url must be an http or https URL (got "ftp://x")`. */
function reason(subject: string, text: string, got: string | undefined): string {
  const value = got === undefined ? '' : ` (got ${got})`
  for (const [pattern, phrase] of phrases) {
    if (pattern.test(text)) return `${subject} ${text.replace(pattern, phrase)}${value}`
  }
  return subject === 'the input' || text.startsWith(`${subject} `) ? text : `${subject}: ${text}`
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
