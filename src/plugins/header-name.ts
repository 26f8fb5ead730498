import { text } from '../schema/fields.ts'

/** The name of a header to read (RFC 9110 section 5.1). */
export const headerName = text({ min: 1, rule: headerNameProblem })

export function headerNameProblem(value: string): string | null {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(value) ? null : 'invalid header name'
}
