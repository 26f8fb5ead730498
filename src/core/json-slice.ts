import { PosthornError } from '../errors.ts'

const maxDepth = 500

/**
 * Parses JSON whose nesting is bounded: JSON.parse takes any depth, but what walks its answer overflows the stack.
 * @throws PosthornError `validation` with what is wrong.
 */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new PosthornError('validation', `JSON is nested deeper than ${maxDepth} levels`)
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new PosthornError('validation', text.trim() === '' ? 'unexpected end of JSON input' : reason(cause), {
      cause,
    })
  }
}

function reason(cause: unknown): string {
  // Engines quote the text around the fault, which may be long or secret; the words before it are enough.
  const message = cause instanceof Error ? cause.message : ''
  const position = /position \d+(?: \(line \d+ column \d+\))?/.exec(message)?.[0]
  return position === undefined ? 'malformed JSON' : `malformed JSON at ${position}`
}

/**
 * The very text of a top-level property of a JSON object, or null when the object has no such property. Of repeated
 * keys the last counts, as for JSON.parse. The text must be valid JSON.
 */
export function sliceProperty(text: string, key: string): string | null {
  let at = skipSpace(text, 0)
  if (text[at] !== '{') return null
  at = skipSpace(text, at + 1)
  let found: string | null = null
  while (text[at] === '"') {
    const keyEnd = stringEnd(text, at)
    const raw = text.slice(at + 1, keyEnd - 1)
    const name = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const end = valueEnd(text, start)
    if (name === key) found = text.slice(start, end)
    at = skipSpace(text, end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return found
}

/** The very texts of the elements of a JSON array, or null when the text is no array. The text must be valid JSON. */
export function sliceElements(text: string): string[] | null {
  let at = skipSpace(text, 0)
  if (text[at] !== '[') return null
  const found: string[] = []
  at = skipSpace(text, at + 1)
  while (at < text.length && text[at] !== ']') {
    const end = valueEnd(text, at)
    found.push(text.slice(at, end))
    at = skipSpace(text, end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return found
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++
  return at
}

/** The place behind the string that opens at `from`. */
function stringEnd(text: string, from: number): number {
  let at = from + 1
  for (;;) {
    const quote = text.indexOf('"', at)
    if (quote === -1) return text.length
    let escapes = 0
    while (text.charCodeAt(quote - 1 - escapes) === 0x5c) escapes++
    if (escapes % 2 === 0) return quote + 1
    at = quote + 1
  }
}

function valueEnd(text: string, from: number): number {
  const first = text[from]
  if (first === '"') return stringEnd(text, from)
  if (first !== '{' && first !== '[') {
    let at = from
    while (at < text.length && !',}] \t\n\r'.includes(text[at]!)) at++
    return at
  }
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === 0x22) at = stringEnd(text, at) - 1
    else if (unit === 0x7b || unit === 0x5b) depth++
    else if ((unit === 0x7d || unit === 0x5d) && --depth === 0) return at + 1
  }
  return text.length
}

function isTooDeep(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === 0x22) at = stringEnd(text, at) - 1
    else if (unit === 0x7b || unit === 0x5b) {
      if (++depth > maxDepth) return true
    } else if (unit === 0x7d || unit === 0x5d) depth--
  }
  return false
}
