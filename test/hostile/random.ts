/** Numbers that a seed decides (mulberry32), so that a run can be repeated. */
export function makeRandom(seed: number) {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    pick: <Item>(items: readonly Item[]): Item => items[below(items.length)]!, // callers give no empty list
    /** A size up to `most`, each order of magnitude as likely as the others. */
    size: (max: number) => Math.ceil(max ** next()),
  }
}

export type Random = ReturnType<typeof makeRandom>
