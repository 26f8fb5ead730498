export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** An `Idempotency-Key` counts for so long after its first use. */
export const keysKeptMs = 24 * hourMs

/** When the period begins in which a time lies, unix milliseconds: minutes, hours and days are those of UTC. */
export function startOf(time: number, periodMs: number): number {
  return Math.floor(time / periodMs) * periodMs
}
