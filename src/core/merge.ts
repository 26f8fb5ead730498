import { isPlainObject } from '../schema/fields.ts'

/**
 * What a JSON merge patch makes of a row (RFC 7396): members of objects are merged, null removes a member, and any
 * other value replaces the old value. A patch that is no object is answered as it is, for the schema to refuse.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isPlainObject(patch)) return patch
  const merged = new Map(isPlainObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else if (value !== undefined) merged.set(key, mergePatch(merged.get(key), value))
  }
  return Object.fromEntries(merged) // defines properties: a key such as `__proto__` stays data
}

/**
 * The shallow merge of an update: an absent top-level key keeps its value, a present key replaces the whole value.
 * Anything but an object is answered as it is, for the schema to refuse.
 */
export function merge(row: object, input: unknown): unknown {
  if (!isPlainObject(input)) return input
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  // fromEntries defines properties: a key such as `__proto__` stays data.
  return Object.fromEntries([...Object.entries(row), ...given])
}
