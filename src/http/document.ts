import { parseJson } from '../core/json-slice.ts'
import { PosthornError } from '../errors.ts'
import type { ConfigDocument } from '../schema/config.ts'

/** YAML is read at less than a megabyte a second, and nothing else runs meanwhile; JSON may be as long as any body. */
const maxYamlLength = 2 * 1024 * 1024
const maxNesting = 500
const maxProperties = 1000

/** The value of a config document: JSON where its type says so or it is JSON, else one document of YAML 1.2. */
export async function parseDocument(text: string, contentType: string | null): Promise<unknown> {
  if (contentType?.trimStart().toLowerCase().startsWith('application/json')) return parseJson(text)
  try {
    return parseJson(text)
  } catch {
    return await parseYaml(text)
  }
}

async function parseYaml(text: string): Promise<unknown> {
  if (text.length > maxYamlLength) {
    throw new PosthornError(
      'too_large',
      `a YAML document may have at most ${maxYamlLength} characters; JSON has more room`,
    )
  }
  // Not every instance reads YAML.
  const { isScalar, Lexer, LineCounter, parseDocument, visit } = await import('yaml')
  let json: string
  try {
    guard(new Lexer().lex(text))
    const lineCounter = new LineCounter()
    const document = parseDocument(text, {
      version: '1.2',
      strict: true,
      logLevel: 'error',
      lineCounter,
      // Its own check compares every key with every other, and its own positions copy the line for each error.
      uniqueKeys: false,
      prettyErrors: false,
    })
    const error = document.errors[0]
    if (error !== undefined) {
      const { line, col } = lineCounter.linePos(error.pos[0])
      throw new Error(`${error.message} at line ${line}, column ${col}`)
    }
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
    json = JSON.stringify(document.toJS({ maxAliasCount: 100 }) ?? null)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unreadable'
    throw new PosthornError('validation', `malformed yaml content: ${reason}`, { cause })
  }
  return parseJson(json)
}

/** Precedes the text of a scalar among the lexer's tokens. */
const scalarFollows = '\u001f'

/**
 * Refuses a document on which the parser would spend minutes: its time grows with the square of open collections and
 * of anchors and tags. Flow collections nest, and block collections that open on one line; indentation alone cannot
 * nest deep in so few characters.
 */
function guard(tokens: Iterable<string>): void {
  let flows = 0
  let opened = 0
  let properties = 0
  let before = ''
  for (const token of tokens) {
    if (before !== scalarFollows) {
      if (token === '[' || token === '{') flows++
      else if (token === ']' || token === '}') flows--
      else if (token.endsWith('\n')) opened = 0
      else if (flows === 0 && (token === '-' || token === '?')) opened++
      else if (token.startsWith('&') || token.startsWith('!')) properties++
    }
    before = token
    if (flows + opened > maxNesting) throw new Error(`nested deeper than ${maxNesting} levels`)
    if (properties > maxProperties) throw new Error(`more than ${maxProperties} anchors and tags`)
  }
}

/** A config document as YAML: keys sorted, block literals for texts of several lines, one newline at the end. */
export async function writeYaml(document: ConfigDocument): Promise<string> {
  const { stringify } = await import('yaml')
  return stringify(document, {
    version: '1.2',
    sortMapEntries: true,
    lineWidth: 0,
    blockQuote: 'literal',
    aliasDuplicateObjects: false,
  })
}

/** The same as JSON, keys sorted too. */
export function writeJson(document: ConfigDocument): string {
  return `${JSON.stringify(document, (_, value: unknown) => sorted(value), 2)}\n`
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
