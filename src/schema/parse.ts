import * as v from 'valibot'

import { invalid, type FieldError, type FieldErrors, mostReasons, PosthornError, unlisted } from '../errors.ts'

/** The one gate from unknown to our types: answers the parsed value, or throws a `validation` error that tells every place. */
export function parse<Schema extends v.GenericSchema>(schema: Schema, input: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, input)
  if (result.success) return result.output
  const fields = fieldErrors(result.issues)
  if (typeof fields === 'string') throw new PosthornError('validation', fields)
  throw invalid(fields)
}

/** As `parse`, but answers the reasons instead of throwing them. */
export function check<Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
): { ok: true; value: v.InferOutput<Schema> } | { ok: false; fields: FieldErrors | string } {
  const result = v.safeParse(schema, input)
  return result.success ? { ok: true, value: result.output } : { ok: false, fields: fieldErrors(result.issues) }
}

/** The refusal of a value with reasons at paths of keys and positions. */
export function reasonsAt(
  issues: readonly { readonly message: string; readonly path: readonly PropertyKey[] }[],
): PosthornError {
  const steps = (path: readonly PropertyKey[]) =>
    path.map((key) => ({ type: typeof key === 'number' ? 'array' : 'object', key }))
  const fields = fieldErrors(issues.map(({ message, path }) => ({ message, path: steps(path) })))
  return typeof fields === 'string' ? new PosthornError('validation', fields) : invalid(fields)
}

interface Issue {
  readonly message: string
  readonly path?: readonly { readonly type: string; readonly key: unknown; readonly value?: unknown }[] | undefined
}

/**
 * Reasons at their places; a plain string when the input as a whole is refused. The first reason of a place counts, and of
 * many places the first hundred: the others are counted under `unlisted`.
 */
function fieldErrors(issues: readonly Issue[]): FieldErrors | string {
  const root: { value: FieldError | undefined } = { value: undefined }
  let listed = 0
  let more = 0
  for (const issue of issues) {
    const last = issue.path?.at(-1)
    if (last?.key === unlisted) more += last.value as number // lists write it so
    else if (listed === mostReasons) more++
    else if (putReason(root, issue)) listed++
  }
  const fields = root.value as FieldErrors | string // there is at least one issue, so the root was set
  return more === 0 || typeof fields === 'string' ? fields : Object.assign(fields, { [unlisted]: more })
}

/** Writes a reason at its place, unless there is one already, or around it. */
function putReason(root: { value: FieldError | undefined }, { message, path = [] }: Issue): boolean {
  let place = root as { [key: string | number]: FieldError | undefined }
  let key: string | number = 'value'
  for (const step of path) {
    const below = place[key]
    if (typeof below === 'string') return false
    const next = (below ?? (step.type === 'array' ? [] : Object.create(null))) as {
      [key: string | number]: FieldError | undefined
    }
    place[key] = next as FieldError
    place = next
    key = step.key as string | number // JSON has no other keys
    if (Array.isArray(place)) while (place.length < Number(key)) place.push(null)
  }
  if (place[key] !== undefined && place[key] !== null) return false
  place[key] = message
  return true
}
