/** The time of day in UTC, to the second: `21:04:59`. */
export function timeText(at: number): string {
  return new Date(at).toISOString().slice(11, 19)
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const

/** A span of time in the largest unit that fits: `3m`. */
export function spanText(ms: number): string {
  const seconds = Math.round(ms / 1000)
  const [name, size] = units.find(([, size]) => seconds >= size) ?? units[3]
  return `${Math.round(seconds / size)}${name}`
}

/** Milliseconds of a span such as `30m`, `1h` or `7d`; null for another text. */
export function spanMs(text: string): number | null {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? []
  const [, size] = units.find(([name]) => name === unit) ?? []
  return size === undefined ? null : Number(count) * size * 1000
}
