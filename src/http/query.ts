import { isStorableText, textRule } from '../schema/fields.ts'
import {
  bounds,
  cursorParameters,
  type ListInput,
  type Parameter,
  parameterProblems,
  type Parameters,
} from '../schema/page.ts'
import { invalidParameters } from '../services/listing.ts'

/** A value as it stands in a query string, with the name that it has in the query string. */
type Read = { readonly value: unknown } | { readonly reasons: readonly string[] }

const flags: Readonly<Record<string, boolean>> = { true: true, false: false, 1: true, 0: false }

/**
 * The parameters of a list from its query string. Of repeated parameters the first counts; undeclared parameters are ignored.
 * @throws PosthornError `validation` with every reason under `@params`.
 */
export function readQuery(search: URLSearchParams, parameters: Parameters): ListInput {
  const input: Record<string, unknown> = {}
  const reasons: string[] = []
  const inCursorMode = cursorParameters.some((name) => search.has(name))
  for (const [name, parameter] of Object.entries(parameters)) {
    if (name === 'page_no' && inCursorMode) continue
    const read = readParameter(search, name, parameter)
    if (read === null) continue
    if ('reasons' in read) {
      reasons.push(...read.reasons)
      continue
    }
    reasons.push(...parameterProblems(name, parameter, read.value))
    input[name] = read.value
  }
  if (reasons.length > 0) throw invalidParameters(reasons)
  return input
}

/** A parameter `name=true` or `name=1` of a call that is no list. */
export function readFlag(search: URLSearchParams, name: string): boolean {
  const read = readOne(search, name, 'flag')
  if (read !== null && 'reasons' in read) throw invalidParameters(read.reasons)
  return read?.value === true
}

function readParameter(search: URLSearchParams, name: string, { kind }: Parameter): Read | null {
  if (kind === 'pairs') {
    const prefix = `${name}[`
    const keys = [...new Set(search.keys())].filter((key) => key.startsWith(prefix) && key.endsWith(']'))
    return gathered(keys.map((key) => [key.slice(prefix.length, -1), readOne(search, key, 'text', true)]))
  }
  if (kind !== 'time') return readOne(search, name, kind, name === 'name')
  return gathered([
    ...unknownBounds(search, name),
    ['eq', readExactMoment(search, name)],
    ...bounds.map((bound): [string, Read | null] => [bound, readMoment(search, `${name}[${bound}]`)]),
  ])
}

/** An unknown bound is an error: a list never answers as if a given filter were missing. */
function unknownBounds(search: URLSearchParams, name: string): [string, Read][] {
  const known = new Set<string>(bounds.map((bound) => `${name}[${bound}]`))
  return [...new Set(search.keys())]
    .filter((key) => key.startsWith(`${name}[`) && !known.has(key))
    .map((key) => [key, { reasons: [`${key}: unknown bound`] }])
}

/** Several values as one object; null when none is given. */
function gathered(parts: readonly (readonly [key: string, read: Read | null])[]): Read | null {
  const there = parts.filter((part): part is readonly [string, Read] => part[1] !== null)
  if (there.length === 0) return null
  const reasons = there.flatMap(([, read]) => ('reasons' in read ? read.reasons : []))
  if (reasons.length > 0) return { reasons }
  return { value: Object.fromEntries(there.map(([key, read]) => [key, 'value' in read ? read.value : undefined])) }
}

/**
 * A moment that rows can have. Any other moment would find nothing and is mostly a time in microseconds or nanoseconds,
 * so it is refused with a reason.
 */
function readExactMoment(search: URLSearchParams, name: string): Read | null {
  const read = readOne(search, name, 'integer')
  if (read === null || 'reasons' in read || Math.abs(Number(read.value)) <= Number.MAX_SAFE_INTEGER) return read
  const max = Number.MAX_SAFE_INTEGER
  return { reasons: [`${name}: value ${search.get(name)}: times are unix milliseconds from -${max} to ${max}`] }
}

/** A bound of any size. A bound beyond all moments that rows can have compares as the last of these moments. */
function readMoment(search: URLSearchParams, name: string): Read | null {
  const read = readOne(search, name, 'integer')
  if (read === null || 'reasons' in read) return read
  const max = Number.MAX_SAFE_INTEGER
  return { value: Math.max(-max, Math.min(max, Number(read.value))) }
}

/** An empty value is looked for only where `emptyCounts` is true. */
function readOne(
  search: URLSearchParams,
  name: string,
  kind: 'integer' | 'flag' | 'text',
  emptyCounts = false,
): Read | null {
  const text = search.get(name)
  if (text === null) return null
  const refuse = (reason: string): Read => ({ reasons: [`${name}: ${reason}`] })
  if (!isStorableText(name) || !isStorableText(text)) return refuse(textRule)
  if (text === '' && !emptyCounts) return refuse('is empty')
  if (kind === 'text') return { value: text }
  if (kind === 'flag') {
    return Object.hasOwn(flags, text)
      ? { value: flags[text] }
      : refuse(`value ${text}: an invalid boolean: invalid syntax`)
  }
  return /^[+-]?\d+$/.test(text) ? { value: Number(text) } : refuse(`value ${text}: an invalid integer: invalid syntax`)
}
