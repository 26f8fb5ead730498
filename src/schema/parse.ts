import * as v from 'valibot'

import { invalid, type FieldError, type FieldErrors, PosthornError } from '../errors.ts'

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
  readonly path?: readonly { readonly type: string; readonly key: unknown }[] | undefined
}

/** Reasons at their places; a plain string when the input as a whole is refused. The first reason of a place counts. */
function fieldErrors(issues: readonly Issue[]): FieldErrors | string {
  const root: { value: FieldError | undefined } = { value: undefined }
  for (const issue of issues) {
    const path = issue.path ?? []
    let place = root as { [key: string | number]: FieldError | undefined }
    let key: string | number = 'value'
    let blocked = false
    for (const step of path) {
      const below = place[key]
      if (typeof below === 'string') {
        blocked = true
        break
      }
      const next = (below ?? (step.type === 'array' ? [] : Object.create(null))) as {
        [key: string | number]: FieldError | undefined
      }
      place[key] = next as FieldError
      place = next
      key = step.key as string | number // JSON has no other keys
      if (Array.isArray(place)) while (place.length < Number(key)) place.push(null)
    }
    if (!blocked) place[key] ??= issue.message
  }
  return root.value as FieldErrors | string // there is at least one issue, so the root was set
}
