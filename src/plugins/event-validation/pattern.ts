import type { RE2JS } from 're2js'

import { plainPattern } from './plain-pattern.ts'
import { type Making, spendOn } from './making.ts'
import { spend, type Work } from './work.ts'

/** Whether a text holds a match. The time grows with the length of the text, never faster. */
export type Pattern = (text: string, work: Work) => boolean

/** Compiles the patterns of schemas. Throws a reason for a person. */
export type PatternCompiler = (source: string, making: Making) => Pattern

// Names of general categories that the engine knows by their letters alone.
const categories: Readonly<Record<string, string>> = {
  Letter: 'L',
  Lowercase_Letter: 'Ll',
  Uppercase_Letter: 'Lu',
  Mark: 'M',
  Number: 'N',
  Decimal_Number: 'Nd',
  Punctuation: 'P',
  Separator: 'Z',
  Symbol: 'S',
}
// What `\s` means in ECMA-262: more than the blanks of ASCII.
const blanks = '\\t-\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff'

/**
 * A pattern has to be a regular expression of ECMA-262, read as Unicode, that can be matched in linear time (RE2):
 * without backreferences and assertions that look around.
 */
export function patternCompiler(re2: typeof RE2JS): PatternCompiler {
  return (source, making) => {
    spendOn(making, 'patterns', syntaxSteps(source))
    try {
      void new RegExp(source, 'u') // checks the syntax alone: engines compile at the first run
    } catch (cause) {
      throw new Error('not a regular expression of ECMA-262', { cause })
    }
    spendOn(making, 'patterns', instructionSteps * sizeOf(source))
    const plain = plainPattern(source)
    if (plain !== null) {
      return (text, work) => {
        spend(work, 1 + text.length / 16)
        return plain(text)
      }
    }
    let program
    try {
      program = re2.compile(re2.translateRegExp(translate(source)))
    } catch (cause) {
      throw new Error('not a pattern that can be matched in linear time', { cause })
    }
    const size = program.programSize()
    return (text, work) => {
      spend(work, 1 + Math.ceil((text.length * size) / 64))
      return program.test(text)
    }
  }
}

/** Whether a text is a pattern of ECMA-262. Nothing is compiled or remembered. */
export function isPattern(text: string, work: Work): boolean {
  spend(work, syntaxSteps(text))
  try {
    return new RegExp(text, 'u') instanceof RegExp
  } catch {
    return false
  }
}

/** What it costs to read a pattern: a property of Unicode is a table of ranges that is built anew each time. */
function syntaxSteps(source: string): number {
  let steps = 100 + 10 * source.length
  for (let at = source.indexOf('\\'); at !== -1; at = source.indexOf('\\', at + 2)) {
    if (source[at + 1] === 'p' || source[at + 1] === 'P') steps += 3000
  }
  return steps
}

/** An instruction of a program takes up to 30 µs to make, and a few hundred bytes. */
const instructionSteps = 400
const classSize = 8

/** About how many instructions a pattern becomes, and no fewer: repetitions are written out. */
function sizeOf(source: string): number {
  const outer: number[] = []
  let size = 1
  let last = 0 // what a repetition would repeat
  const token = /\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\.|\[\^?(?:\\.|[^\]\\])*\]|\{(\d+)(,?)(\d*)\}|[\s\S]/gu
  for (const [text, min, comma, max] of source.matchAll(token)) {
    if (min !== undefined) {
      const written = Number(comma === '' || max === '' ? min : max)
      const times = Math.min(max === '' ? written + 1 : written, 1e6)
      size += last * Math.max(0, times - 1)
      last *= Math.max(1, times)
    } else if (text === '(') {
      outer.push(size)
      size = 2
    } else if (text === ')') {
      last = size
      size += outer.pop() ?? 0
    } else {
      last = /^(?:\\[pP]|\[)/.test(text) ? classSize + text.length / 8 : 1
      size += last
    }
  }
  return size + outer.reduce((sum, each) => sum + each, 0)
}

function translate(source: string): string {
  let inClass = false
  return source.replace(/\\p\{([^}]*)\}|\\P\{([^}]*)\}|\\.|[[\]]/gsu, (token, is?: string, isNot?: string) => {
    if (token === '[') inClass = true
    if (token === ']') inClass = false
    if (token === '\\s') return inClass ? blanks : `[${blanks}]`
    if (token === '\\S' && !inClass) return `[^${blanks}]`
    const name = is ?? isNot
    if (name === undefined) return token
    const plain = name.replace(/^(?:General_Category|gc|Script|sc)=/, '')
    return `\\${is === undefined ? 'P' : 'p'}{${categories[plain] ?? plain}}`
  })
}
