import { invalid } from '../errors.ts'

/**
 * The JSON of a value of the host's, under the name that the host knows the value by.
 * @throws PosthornError `validation` that names the place of what JSON cannot say.
 */
export function jsonOf(value: unknown, name: string): string {
  try {
    return JSON.stringify(value)
  } catch {
    const place = bigIntPath(value)
    throw invalid({
      [name]:
        place === null
          ? 'value cannot be written as JSON'
          : `value holds a BigInt${place === '' ? '' : ` at ${place}`}, which JSON cannot say: pass a string, or the whole as new JsonText(text)`,
    })
  }
}

/** Values nest no deeper than JSON may. Reading a value that refers to itself ends at this depth. */
const deepest = 500

function bigIntPath(value: unknown, path = '', depth = 0): string | null {
  if (typeof value === 'bigint') return path
  if (typeof value !== 'object' || value === null || depth === deepest) return null
  for (const [key, item] of Object.entries(value)) {
    const step = Array.isArray(value) ? `[${key}]` : path === '' ? key : `.${key}`
    const found = bigIntPath(item, `${path}${step}`, depth + 1)
    if (found !== null) return found
  }
  return null
}
