/** Characters: those of ASCII as bits, and whether all other characters belong to the set. */
interface CharSet {
  readonly words: readonly [number, number, number, number]
  readonly others: boolean
}

/** A set of characters, and how many of them follow each other. */
interface Step extends CharSet {
  readonly min: number
  readonly max: number
}

// RE2 takes no more repetitions: longer patterns are refused there.
const maxTimes = 1000
const token =
  /\[(\^?)((?:[^\\\]]|\\.)*)\](\*|\+|\?|\{\d+(?:,\d*)?\})?|(\\.|[^\\^$.*+?()[\]{}|])(\*|\+|\?|\{\d+(?:,\d*)?\})?/y
const escapes: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  '\\d': [['0', '9']],
  '\\w': [
    ['0', '9'],
    ['A', 'Z'],
    ['_', '_'],
    ['a', 'z'],
  ],
}

/**
 * Reads a pattern that is no more than sets of characters in a row, such as `^[A-Z]{3}-\d+$`, and of which each
 * character of a text tells how to go on: one look at each character then judges the text. Null for all other patterns.
 * The source must be a regular expression of ECMA-262, read as Unicode.
 */
export function plainPattern(source: string): ((text: string) => boolean) | null {
  if (!source.startsWith('^') || !/^[\x20-\x7e]*$/.test(source)) return null
  const steps: Step[] = []
  token.lastIndex = 1
  let end = 1
  for (let match = token.exec(source); match !== null; match = token.exec(source)) {
    end = token.lastIndex
    const [, not, members, ofSet, single, ofSingle] = match
    const set = members === undefined ? setOf(single!, false) : setOf(members, not === '^') // one of both is there
    const [min, max] = timesOf(ofSet ?? ofSingle)
    if (set === null || min > maxTimes || (max > maxTimes && max !== Infinity)) return null
    steps.push({ ...set, min, max })
  }
  const rest = source.slice(end)
  if ((rest !== '' && rest !== '$') || !steps.every((_, at) => isDecided(steps, at))) return null
  return (text) => matches(steps, text, rest === '$')
}

function timesOf(quantifier: string | undefined): readonly [min: number, max: number] {
  switch (quantifier) {
    case undefined:
      return [1, 1]
    case '*':
      return [0, Infinity]
    case '+':
      return [1, Infinity]
    case '?':
      return [0, 1]
    default: {
      const [min, max] = quantifier.slice(1, -1).split(',')
      return [Number(min), max === undefined ? Number(min) : max === '' ? Infinity : Number(max)]
    }
  }
}

/** The set of the members of a class; null for members that are not read here. */
function setOf(members: string, not: boolean): CharSet | null {
  const words: [number, number, number, number] = [0, 0, 0, 0]
  const take = (from: string, to: string) => {
    for (let code = from.charCodeAt(0); code <= to.charCodeAt(0); code++) words[code >> 5]! |= 1 << (code & 31)
  }
  const parts = members.match(/\\.|[^\\]/g) ?? []
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at]!
    const ranges = escapes[part]
    const from = literal(part)
    if (ranges !== undefined) for (const range of ranges) take(...range)
    else if (from === null) return null
    else if (parts[at + 1] === '-' && at + 2 < parts.length) {
      const to = literal(parts[at + 2]!)
      if (to === null) return null
      take(from, to)
      at += 2
    } else take(from, from)
  }
  return { words: not ? [~words[0], ~words[1], ~words[2], ~words[3]] : words, others: not }
}

/** The character that a part of a class means, itself or escaped. */
function literal(part: string): string | null {
  if (part.length === 1) return part
  return /[0-9A-Za-z]/.test(part[1]!) ? null : part[1]!
}

/** Whether no character that a step may take could as well be taken by what follows. */
function isDecided(steps: readonly Step[], at: number): boolean {
  const { words, others, min, max } = steps[at]!
  if (min === max) return true
  for (const next of steps.slice(at + 1)) {
    if ((others && next.others) || words.some((word, i) => (word & next.words[i]!) !== 0)) return false
    if (next.min > 0) break
  }
  return true
}

function matches(steps: readonly Step[], text: string, whole: boolean): boolean {
  let at = 0
  for (const { words, others, min, max } of steps) {
    const [first, second, third, fourth] = words
    let count = 0
    while (count < max && at < text.length) {
      const code = text.charCodeAt(at)
      if (code < 128) {
        const word = code < 64 ? (code < 32 ? first : second) : code < 96 ? third : fourth
        if (((word >>> (code & 31)) & 1) === 0) break
        at++
      } else {
        if (!others) break
        at += text.codePointAt(at)! > 0xff_ff ? 2 : 1
      }
      count++
    }
    if (count < min) return false
  }
  return !whole || at === text.length
}
