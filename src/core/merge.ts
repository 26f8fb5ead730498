import { isPlainObject } from '../schema/fields.ts'

/**
 * The shallow merge of an update: an absent top-level key keeps its value, a present one replaces the whole value.
 * Anything but an object is answered as it is, for the schema to refuse.
 */
export function merge(row: object, input: unknown): unknown {
  if (!isPlainObject(input)) return input
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  // fromEntries defines properties: a key such as `__proto__` stays data.
  return Object.fromEntries([...Object.entries(row), ...given])
}
