/** Numbers that only look random: the same for the same seed, so that a failure can be run again (mulberry32). */
export interface Random {
  /** A whole number from 0 to `count` - 1. */
  below(count: number): number
  /** Any of the items. */
  of<Item>(items: readonly Item[]): Item
}

export function random(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (count: number) => Math.floor(next() * count)
  return {
    below,
    of: (items) => items[below(items.length)]!, // never called with none
  }
}
