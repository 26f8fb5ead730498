// What is recorded of requests and answers: bounded, and text that every engine can store.

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const ascii = /^[\0-\x7f]*$/
const redacted = '***'
/** Text that every engine stores as it is, one byte a character. Nearly all texts are of this kind. */
const plain = /^[\t\n\r -~]*$/
/** The same without capital letters. */
const plainLower = /^[\t\n\r -@[-~]*$/

/**
 * The text of received bytes: at most `maxBytes` of them, and no more than that as UTF-8, never half a code point. What
 * is not UTF-8, and U+0000, becomes U+FFFD. A byte order mark stays.
 */
export function recordBytes(bytes: Uint8Array, maxBytes: number): string {
  if (bytes.length <= maxBytes) return recordText(decoder.decode(bytes), maxBytes)
  // A decoder in the mode `stream` holds back the first bytes of a code point that the cut went through.
  const cutting = new TextDecoder('utf-8', { ignoreBOM: true })
  return recordText(cutting.decode(bytes.subarray(0, maxBytes), { stream: true }), maxBytes)
}

/** A text cut at `maxBytes` of UTF-8, never inside a code point; U+0000 and halves of surrogate pairs become U+FFFD. */
export function recordText(text: string, maxBytes: number): string {
  if (text.length <= maxBytes && plain.test(text)) return text
  // Each UTF-16 unit is at least one byte, so no unit beyond the bound is recorded, and the rest need not be looked at.
  const storable = text
    .slice(0, maxBytes + 1)
    .toWellFormed()
    .replaceAll('\0', '\uFFFD')
  if (storable.length * 3 <= maxBytes || (storable.length <= maxBytes && ascii.test(storable))) return storable
  const room = new Uint8Array(Math.min(maxBytes, storable.length * 3))
  return storable.slice(0, encoder.encodeInto(storable, room).read)
}

interface HeaderBounds {
  readonly maxBytes: number
  /** Names, in lower case, whose values are not shown. */
  readonly redact?: ReadonlySet<string>
}

/** {@link recordHeaders} for headers by name. Those that are fit as they are, nearly all, are answered themselves. */
export function recordFields(
  headers: Readonly<Record<string, string>>,
  bounds: HeaderBounds,
): Readonly<Record<string, string>> {
  const names = Object.keys(headers)
  let length = 0
  for (const name of names) {
    const value = headers[name]! // a key of `headers`
    length += name.length + value.length
    const isFit = plain.test(value) && plainLower.test(name)
    if (!isFit || length > bounds.maxBytes || bounds.redact?.has(name)) return recordUnfit(headers, names, bounds)
  }
  return headers
}

function recordUnfit(
  headers: Readonly<Record<string, string>>,
  names: readonly string[],
  bounds: HeaderBounds,
): Record<string, string> {
  // Names in lower case are unlike each other, so that those beyond the bound need not be looked at.
  if (names.every((name) => name === name.toLowerCase())) return cutAt(bounds.maxBytes, shown(headers, names, bounds))
  return recordHeaders(Object.entries(headers).flat(), bounds)
}

function* shown(
  headers: Readonly<Record<string, string>>,
  names: readonly string[],
  { redact }: HeaderBounds,
): Generator<[string, string]> {
  for (const name of names) yield [name, redact?.has(name) ? redacted : headers[name]!] // a key of `headers`
}

/**
 * Headers, names and values in turn, as they are recorded: names in lower case, values of a repeated name joined with `, `,
 * a value whose name is in `redact` (lower case) shown as `***`. Names and values together are at most `maxBytes`: the
 * last value that fits in part is cut, what follows is left out.
 */
export function recordHeaders(headers: readonly string[], { maxBytes, redact }: HeaderBounds): Record<string, string> {
  const recorded: Record<string, string> = {}
  let length = 0
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase() // the condition says so
    const value = redact?.has(name) ? redacted : headers[i + 1]!
    length += name.length + value.length
    if (length > maxBytes || name in recorded || !plain.test(value) || !plain.test(name)) {
      return recordWithCare(headers, maxBytes, redact)
    }
    recorded[name] = value
  }
  return recorded
}

/** Headers, if some are too long, repeated, named like a property of objects, or no plain text. */
function recordWithCare(
  headers: readonly string[],
  maxBytes: number,
  redact: ReadonlySet<string> | undefined,
): Record<string, string> {
  const values = new Map<string, string>()
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase() // the condition says so
    const value = headers[i + 1]!
    const before = values.get(name)
    if (redact?.has(name)) values.set(name, redacted)
    else values.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return cutAt(maxBytes, values)
}

/** The first of the headers, as many as have room. */
function cutAt(maxBytes: number, headers: Iterable<[string, string]>): Record<string, string> {
  const recorded: [string, string][] = []
  let left = maxBytes
  for (const [name, value] of headers) {
    left -= bytesOf(name)
    // A redacted value is shown whole or not at all.
    if (left < (value === redacted ? redacted.length : 0)) break
    const text = recordText(value, left)
    recorded.push([name, text])
    left -= bytesOf(text)
  }
  // Any name is only data: `__proto__` too becomes a key of the object.
  return Object.fromEntries(recorded)
}

function bytesOf(text: string): number {
  return ascii.test(text) ? text.length : encoder.encode(text).length
}
