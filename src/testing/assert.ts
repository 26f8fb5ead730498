// The assertions of the contract suites: they throw, and need no test runner.

/** Throws unless both are the same values: objects by their own keys, whatever the order of these and the prototypes. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  if (!isEqual(actual, expected)) throw new Error(`${what}: expected ${show(expected)}, got ${show(actual)}`)
}

export function ok(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what)
}

/** Answers what is neither null nor undefined. */
export function there<Value>(value: Value | null | undefined, what: string): Value {
  if (value === null || value === undefined) throw new Error(`${what}: nothing there`)
  return value
}

export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    // Both are objects, so a key of theirs can be read.
    keys.every((key) => Object.hasOwn(b, key) && isEqual((a as Rows)[key], (b as Rows)[key]))
  )
}

type Rows = Record<string, unknown>

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 600 ? `${text.slice(0, 600)}…` : text
}
