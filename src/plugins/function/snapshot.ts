/** A stack of the engine is longer than this many words of zeros, and nothing else is. */
const minStackWords = wordsOf(1024 * 1024)
/** Variables that are still zero may stand at either edge of the stack. */
const edge = wordsOf(64 * 1024)

interface Snapshot {
  /** Makes the memory what it was. */
  restore(): void
}

/**
 * Remembers what a WebAssembly memory holds while no code runs in it. Nothing lives on the stack then, so the stack, which
 * is most of the memory in use, is left out.
 */
export function takeSnapshot(memory: WebAssembly.Memory): Snapshot {
  const words = new Uint32Array(memory.buffer)
  const used = lastNonZero(words) + 1
  const stack = longestZeros(words, used)
  const isStack = stack.to - stack.from > minStackWords
  const parts = isStack
    ? [
        [0, stack.from + edge],
        [stack.to - edge, used],
      ]
    : [[0, used]]
  const copies = parts.map(([from, to]) => ({ from: from!, words: words.slice(from, to) }))
  return {
    restore() {
      const now = new Uint32Array(memory.buffer) // another buffer once the memory grew
      for (const copy of copies) now.set(copy.words, copy.from)
    },
  }
}

function wordsOf(bytes: number): number {
  return bytes / Uint32Array.BYTES_PER_ELEMENT
}

function lastNonZero(words: Uint32Array): number {
  let at = words.length - 1
  while (at >= 0 && words[at] === 0) at--
  return at
}

function longestZeros(words: Uint32Array, end: number): { readonly from: number; readonly to: number } {
  let longest = { from: 0, to: 0 }
  let from = 0
  for (let at = 0; at < end; at++) {
    if (words[at] === 0) continue
    if (at - from > longest.to - longest.from) longest = { from, to: at }
    from = at + 1
  }
  return longest
}
