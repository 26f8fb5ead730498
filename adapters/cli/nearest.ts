/** The word of a list that is most like a word, for "did you mean"; null when none is alike. */
export function nearest(word: string, words: readonly string[]): string | null {
  const [best] = words
    .map((other) => ({ other, steps: distance(word.toLowerCase(), other.toLowerCase()) }))
    .toSorted((a, b) => a.steps - b.steps)
  return best !== undefined && best.steps <= Math.max(1, Math.floor(word.length / 3)) ? best.other : null
}

/** How many letters must be added, removed or replaced (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
