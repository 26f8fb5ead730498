/** A line of the old text, of the new text or of both. */
export interface Line {
  readonly kind: 'add' | 'remove' | 'same'
  readonly text: string
}

/** Beyond this many pairs of lines the table below would be too large: all lines count as replaced. */
const maxPairs = 4_000_000

/** The lines by which two texts differ, in order: a longest common subsequence stays. */
export function difference(before: string, after: string): readonly Line[] {
  const a = before.trimEnd().split('\n')
  const b = after.trimEnd().split('\n')
  if (a.length * b.length > maxPairs) {
    return [
      ...a.map((text) => ({ kind: 'remove' as const, text })),
      ...b.map((text) => ({ kind: 'add' as const, text })),
    ]
  }
  const width = b.length + 1
  const common = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] =
        a[i] === b[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
    }
  }
  const lines: Line[] = []
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i++]! })
      j++
    } else if (common[(i + 1) * width + j]! >= common[i * width + j + 1]!) lines.push({ kind: 'remove', text: a[i++]! })
    else lines.push({ kind: 'add', text: b[j++]! })
  }
  while (i < a.length) lines.push({ kind: 'remove', text: a[i++]! })
  while (j < b.length) lines.push({ kind: 'add', text: b[j++]! })
  return lines
}
