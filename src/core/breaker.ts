interface Tally {
  readonly total: number
  readonly failed: number
}

/** Endpoints with at least `minimum` outcomes, if at least `failurePercent` of these failed. Example: 20 outcomes, 50 percent. */
export function failing<Row extends Tally>(
  tallies: readonly Row[],
  { minimum, failurePercent }: { readonly minimum: number; readonly failurePercent: number },
): Row[] {
  return tallies.filter(({ total, failed }) => total >= minimum && failed * 100 >= failurePercent * total)
}
