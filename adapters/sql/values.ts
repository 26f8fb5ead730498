/** A row as a driver answers it, by column name. */
export type Row = Readonly<Record<string, unknown>>

/** Rows as one JSON parameter. */
export function json(rows: unknown): string {
  return JSON.stringify(rows)
}

/** 64-bit integers come as text, numbers or bigints, by driver; ours are below 2^53. */
export function number(value: unknown): number {
  return Number(value)
}

export function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value)
}
