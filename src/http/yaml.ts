import { Composer, type CST, Document, isScalar, Lexer, LineCounter, Parser, visit } from 'yaml'

import { PosthornError } from '../errors.ts'
import { inSlices, type SliceClock } from '../runtime/slices.ts'

// YAML is read at less than a megabyte a second, and nothing else runs while nodes are made of the tokens. So what a document
// may hold is bounded, such that the worst document within the bounds takes less than a second.

/** In characters. */
const maxLength = 2 * 1024 * 1024
/** Words, marks and ends of lines, as the lexer finds them; blanks do not count. A text of several lines counts each of them. */
const maxTokens = 100_000
const maxAliases = 100
const maxNesting = 500
const maxProperties = 1000

/** The value of a single document of YAML 1.2, as JSON text. @throws PosthornError `validation`. */
export async function yamlToJson(clock: SliceClock, text: string): Promise<string> {
  if (text.length > maxLength) {
    throw new PosthornError(
      'validation',
      `a YAML document may have at most ${maxLength} characters; JSON has more room`,
    )
  }
  try {
    const document = await composed(clock, text)
    visit(document, {
      Map(_, { items }) {
        const keys = new Set<unknown>()
        for (const { key } of items) {
          // Collections as keys would become texts, in a time that doubles with each level.
          if (!isScalar(key)) throw new Error('keys must be plain values')
          if (keys.has(String(key.value))) throw new Error(`Map keys must be unique: ${String(key.value)}`)
          keys.add(String(key.value))
        }
      },
    })
    // The library counts the anchor too, and counts aliases inside aliased values again for each alias.
    return JSON.stringify(document.toJS({ maxAliasCount: maxAliases + 1 }) ?? null)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unreadable'
    throw new PosthornError('validation', `malformed yaml content: ${reason}`, { cause })
  }
}

/**
 * Lists by name as one document of YAML that `yamlToJson` reads: keys sorted, block literals for texts of several lines, one
 * newline at the end. Null when the document would be larger than a document that we read. There may be hundreds of entries, which
 * take a millisecond for each ten: others get turns of the event loop in between.
 */
export async function yamlOf(
  clock: SliceClock,
  lists: Readonly<Record<string, readonly unknown[]>>,
): Promise<string | null> {
  const guard = tokenGuard()
  let text = ''
  const add = (more: string): void => {
    text += more
    if (text.length > maxLength) throw new Error('the document is too long')
    for (const token of new Lexer().lex(more)) guard(token)
  }
  try {
    for (const [name, entries] of Object.entries(lists).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      if (entries.length === 0) add(`${name}: []\n`)
      else add(`${name}:\n`)
      await inSlices(clock, entries, (entry) => add(`  ${textOf([entry]).replaceAll(/\n(?=[^\n])/g, '\n  ')}`))
    }
    return text
  } catch {
    return null
  }
}

function textOf(value: unknown): string {
  const document = new Document(value, { version: '1.2', sortMapEntries: true, aliasDuplicateObjects: false })
  visit(document, {
    Scalar(_, scalar) {
      // As a block literal the library loses the blanks of a text that has nothing else.
      if (typeof scalar.value === 'string' && scalar.value.trim() === '') scalar.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0, blockQuote: 'literal' })
}

/** The single document of a text. Stops at the first error: a text can hold a million errors. */
async function composed(clock: SliceClock, text: string): Promise<Document.Parsed> {
  const lines = new LineCounter()
  lines.addNewLine(0)
  const refuse = (message: string, offset: number): never => {
    const { line, col } = lines.linePos(offset)
    throw new Error(`${message} at line ${line}, column ${col}`)
  }
  const parser = new Parser(lines.addNewLine)
  const tokens: CST.Token[] = []
  const keep = (found: Iterable<CST.Token>): void => {
    for (const token of found) {
      if (token.type === 'error') refuse(token.message, token.offset)
      tokens.push(token)
    }
  }
  const guard = tokenGuard()
  await inSlices(clock, new Lexer().lex(text), (lexeme) => {
    guard(lexeme)
    keep(parser.next(lexeme))
  })
  keep(parser.end())
  const composer = new Composer({
    version: '1.2',
    strict: true,
    logLevel: 'error',
    // The library's check compares every key with every other; ours below uses a set.
    uniqueKeys: false,
  })
  // The composer gathers errors, and has no option to stop at the first error.
  Object.assign(composer, {
    onError(
      at: number | readonly [number, number] | { offset: number },
      _code: string,
      message: string,
      warning?: boolean,
    ) {
      if (warning === true) return
      refuse(message, typeof at === 'number' ? at : 'offset' in at ? at.offset : at[0])
    },
  })
  let document: Document.Parsed | null = null
  for (const next of composer.compose(tokens, true, text.length)) {
    if (document !== null) throw new Error('Source contains multiple documents')
    const [error] = next.errors
    if (error !== undefined) refuse(error.message, error.pos[0])
    document = next
  }
  return document! // the composer always makes a document when it is forced to
}

/** Precedes the text of a scalar, and that of a document, among the lexer's tokens. */
const scalarFollows = '\u001f'
const documentFollows = '\u0002'

/**
 * Refuses, at a token, a document on which the parser would spend long: its time grows with tokens and lines, and with the square of
 * open collections and of anchors, tags and directives. Flow collections nest, and so do block collections that open on
 * the same line; indentation alone cannot nest deep in so few characters.
 */
function tokenGuard(): (token: string) => void {
  let count = 0
  let flows = 0
  let opened = 0
  let properties = 0
  let aliases = 0
  let before = ''
  return (token) => {
    if (before === scalarFollows || token.includes('\n')) count += linesOf(token)
    else if (token !== scalarFollows && token !== documentFollows && token.trim() !== '') count++
    if (count > maxTokens) throw new Error(`more than ${maxTokens} tokens; JSON has more room`)
    if (before !== scalarFollows) {
      if (token === '[' || token === '{') flows++
      else if (token === ']' || token === '}') flows--
      else if (token.endsWith('\n')) opened = 0
      else if (flows === 0 && (token === '-' || token === '?')) opened++
      else if (/^[&!%]/.test(token)) properties++
      else if (token.startsWith('*')) aliases++
    }
    before = token
    if (flows + opened > maxNesting) throw new Error(`nested deeper than ${maxNesting} levels`)
    if (properties > maxProperties) throw new Error(`more than ${maxProperties} anchors, tags and directives`)
    if (aliases > maxAliases) throw new Error(`more than ${maxAliases} aliases`)
  }
}

function linesOf(text: string): number {
  let ends = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) ends++
  return Math.max(1, ends)
}
