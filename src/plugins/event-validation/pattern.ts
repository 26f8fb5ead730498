import { PosthornError } from '../../errors.ts'
import { spend, type Work } from './work.ts'

/** Whether a text holds a match. Its time grows with the text, never faster. */
export type Pattern = (text: string, work: Work) => boolean

/** Compiles the patterns of schemas. Throws a reason for a person. */
export type PatternCompiler = (source: string) => Pattern

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
 * A pattern has to be one of ECMA-262, read as Unicode, that can be matched in linear time (RE2): without backreferences
 * and assertions that look around.
 */
export async function loadPatterns(): Promise<PatternCompiler> {
  const { RE2JS } = await import('re2js').catch((cause: unknown) => {
    throw new PosthornError('internal', 'The event-validation plugin needs: npm install re2js', { cause })
  })
  const compiled = new Map<string, Pattern>()

  function compile(source: string): Pattern {
    try {
      void new RegExp(source, 'u') // compiled for its syntax, never run
    } catch (cause) {
      throw new Error('not a regular expression of ECMA-262', { cause })
    }
    let program
    try {
      program = RE2JS.compile(RE2JS.translateRegExp(translate(source)))
    } catch (cause) {
      throw new Error('not a pattern that can be matched in linear time', { cause })
    }
    const size = program.programSize()
    return (text, work) => {
      spend(work, 1 + Math.ceil((text.length * size) / 64))
      return program.test(text)
    }
  }

  return (source) => {
    let pattern = compiled.get(source)
    if (pattern === undefined) compiled.set(source, (pattern = compile(source)))
    return pattern
  }
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
