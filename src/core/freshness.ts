/** Seconds of unix time written in decimal digits; null when the text is anything else, as two joined headers are. */
export function unixSeconds(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null
}

/**
 * Whether a signature made at `seconds` is recent enough at `now` (milliseconds), in both directions: an old signature
 * may be a replay, and a signature from the future would stay valid too long. A tolerance of 0 takes any time.
 */
export function freshness(seconds: number, now: number, toleranceSeconds: number): 'fresh' | 'stale' | 'future' {
  if (toleranceSeconds === 0) return 'fresh'
  const age = Math.floor(now / 1000) - seconds
  if (age > toleranceSeconds) return 'stale'
  return age < -toleranceSeconds ? 'future' : 'fresh'
}
