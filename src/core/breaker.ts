interface Tally {
  readonly total: number
  readonly failed: number
}

/** Endpoints of which, of at least `minimum` outcomes, at least `failurePercent` failed. */
export function failing<Row extends Tally>(
  tallies: readonly Row[],
  { minimum, failurePercent }: { readonly minimum: number; readonly failurePercent: number },
): Row[] {
  return tallies.filter(({ total, failed }) => total >= minimum && failed * 100 >= failurePercent * total)
}
