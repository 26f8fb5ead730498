import type { FieldErrors } from '../errors.ts'
import type { SchemaIssue } from './catalogue.ts'
import { reasonsOf } from './parse.ts'

interface Schema {
  readonly '~standard': {
    readonly validate: (value: unknown) => Result | Promise<Result>
  }
}
type Result = { readonly value?: unknown; readonly issues?: readonly SchemaIssue[] | undefined }

/** As `check`, for a schema of any library that follows Standard Schema. */
export async function checkStandard(
  schema: Schema,
  input: unknown,
): Promise<{ ok: true; value: unknown } | { ok: false; fields: FieldErrors | string }> {
  const { value, issues } = await schema['~standard'].validate(input)
  return issues === undefined ? { ok: true, value } : { ok: false, fields: reasonsOf(issues) }
}
