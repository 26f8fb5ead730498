/**
 * The name of a list that a mistyped name means, for "did you mean": a name that is spelled nearly the same, else the
 * only name that has all words of the mistyped name. Null when no name is similar. The prefix of all our variables is
 * ignored.
 */
export function nearest(name: string, names: readonly string[]): string | null {
  const bare = bareOf(name)
  const [best] = names
    .map((other) => ({ other, steps: distance(bare, bareOf(other)) }))
    .toSorted((a, b) => a.steps - b.steps)
  // Of a short word too little is left, where letters differ.
  if (best !== undefined && best.steps <= Math.floor(bare.length / 4)) return best.other
  const words = wordsOf(name)
  const alike = names.filter((other) => words.every((word) => wordsOf(other).includes(word)))
  return alike.length === 1 ? alike[0]! : null
}

const bareOf = (name: string) => name.replace(/^POSTHORN_/, '').toLowerCase()

/** `databasePool` and `POSTHORN_DATABASE_POOL` have the words `database` and `pool`. */
function wordsOf(name: string): string[] {
  return bareOf(name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_')).split('_')
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
