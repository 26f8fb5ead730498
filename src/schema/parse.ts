import * as v from 'valibot'

import { invalid, type FieldError, type FieldErrors, maxReasons, PosthornError, unlisted } from '../errors.ts'
import type { SchemaIssue } from './catalogue.ts'

/**
 * The only gate from unknown to our types: answers the parsed value, or throws a `validation` error that tells every
 * place.
 */
export function parse<Schema extends v.GenericSchema>(schema: Schema, input: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, input)
  if (result.success) return result.output
  throw refusalOfIssues(result.issues)
}

/** As `parse`, for who gathers the issues of several parts. */
export function parsedIssues<Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
): { ok: true; value: v.InferOutput<Schema> } | { ok: false; issues: readonly Issue[] } {
  const result = v.safeParse(schema, input)
  return result.success ? { ok: true, value: result.output } : { ok: false, issues: result.issues }
}

/** The refusal of a value with all its issues, at least one. */
export function refusalOfIssues(issues: readonly Issue[]): PosthornError {
  return refusalFor(fieldErrors(issues))
}

function refusalFor(fields: FieldErrors | string): PosthornError {
  return typeof fields === 'string' ? new PosthornError('validation', fields) : invalid(fields)
}

/** As `parse`, but answers the reasons instead of throwing them. */
export function check<Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
): { ok: true; value: v.InferOutput<Schema> } | { ok: false; fields: FieldErrors | string } {
  const result = v.safeParse(schema, input)
  return result.success ? { ok: true, value: result.output } : { ok: false, fields: fieldErrors(result.issues) }
}

/** The reasons that a schema of another library tells, at their places. Steps of ours stay as they are. */
export function reasonsOf(issues: readonly SchemaIssue[]): FieldErrors | string {
  const stepOf = (step: PropertyKey | { readonly key: PropertyKey }) => {
    if (typeof step === 'object' && 'type' in step) return step as { type: string; key: PropertyKey; value?: unknown }
    const key = typeof step === 'object' ? step.key : step
    return { type: typeof key === 'number' ? 'array' : 'object', key }
  }
  return fieldErrors(issues.map(({ message, path = [] }) => ({ message, path: path.map(stepOf) })))
}

/** The refusal of a value with reasons at paths. */
export function refusalAt(issues: readonly SchemaIssue[]): PosthornError {
  return refusalFor(reasonsOf(issues))
}

/** What is wrong with a value, and where. */
export interface Issue {
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
    else if (listed === maxReasons) more++
    else if (putReason(root, issue)) listed++
  }
  const fields = root.value as FieldErrors | string // at least one issue, so the root was set
  return more === 0 || typeof fields === 'string' ? fields : Object.assign(fields, { [unlisted]: more })
}

/** Writes a reason at its place, unless that place, or a place around it, has a reason already. */
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
