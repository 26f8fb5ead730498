/** What a scenario saw with its client: ids and names, and how many events it found an hour after its own. */
export interface Seen {
  readonly endpoint: string
  readonly event: string
  readonly listed: readonly string[]
  readonly later: number
  readonly dumped: readonly (string | null | undefined)[]
}

export const hour = 3_600_000
export const hook = 'https://example.com/hook'

/** A value that is there. */
export function given<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error('the client answered nothing')
  return value
}
