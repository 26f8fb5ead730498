/** A duration as `8s`, `1m5s`, `26h0m0s`: whole seconds, from the largest unit that is not zero, hours unbounded. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  const rest = `${seconds % 60}s`
  if (hours > 0) return `${hours}h${minutes}m${rest}`
  return minutes > 0 ? `${minutes}m${rest}` : rest
}

/** A size as `3.52 MiB`. */
export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return unit === 0 ? `${value} B` : `${value.toFixed(2)} ${units[unit]}`
}
