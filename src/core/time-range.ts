import type { TimeRange } from '../contracts/storage/list.ts'

/** Whether a time lies in the range; a missing range holds all, and null lies in none. */
export function inRange(time: number | null, range: TimeRange | undefined): boolean {
  if (range === undefined) return true
  if (time === null) return false
  return (
    (range.eq === undefined || time === range.eq) &&
    (range.gt === undefined || time > range.gt) &&
    (range.gte === undefined || time >= range.gte) &&
    (range.lt === undefined || time < range.lt) &&
    (range.lte === undefined || time <= range.lte)
  )
}
