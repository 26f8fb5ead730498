import { parseJson } from '../core/json-slice.ts'
import { PosthornError } from '../errors.ts'
import type { ConfigDocument } from '../schema/config.ts'

/** YAML is read at less than a megabyte a second, and nothing else runs meanwhile; JSON may be as long as any body. */
const maxYamlLength = 2 * 1024 * 1024

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
  const { isScalar, parseDocument, visit } = await import('yaml')
  let json: string
  try {
    const document = parseDocument(text, { version: '1.2', uniqueKeys: true, strict: true, logLevel: 'error' })
    if (document.errors[0] !== undefined) throw document.errors[0]
    // Collections as keys would become texts, in a time that doubles with each level.
    visit(document, {
      Pair(_, { key }) {
        if (!isScalar(key)) throw new Error('keys must be plain values')
      },
    })
    json = JSON.stringify(document.toJS({ maxAliasCount: 100 }) ?? null)
  } catch (cause) {
    // The first line tells what and where; the lines after it quote the document.
    const reason = cause instanceof Error ? cause.message.split('\n')[0]!.replace(/:$/, '') : 'unreadable'
    throw new PosthornError('validation', `malformed yaml content: ${reason}`, { cause })
  }
  return parseJson(json)
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
