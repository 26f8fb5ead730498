import { parseJson } from '../core/json-slice.ts'
import { PosthornError } from '../errors.ts'
import { lazy } from '../runtime/lazy.ts'
import { inSlices, type SliceClock } from '../runtime/slices.ts'
import type { ConfigDocument } from '../schema/config.ts'
import { isPlainObject } from '../schema/fields.ts'
import { prefersJson } from './accept.ts'
import { LongText } from './long-text.ts'
import type { Sent } from './read.ts'
import { json } from './respond.ts'

/** Not every instance reads YAML. */
const yaml = lazy(() => import('./yaml.ts'))

/**
 * The value of a config document: JSON where the content type says so or the text is JSON, else one document of YAML
 * 1.2.
 */
export async function parseDocument(
  { request, clock, parsing, workspace }: Sent & { readonly clock: SliceClock },
  text: string,
): Promise<unknown> {
  const parse = () => parsing.run(workspace, text.length, () => parseJson(text))
  if (request.headers.get('content-type')?.trimStart().toLowerCase().startsWith('application/json'))
    return await parse()
  try {
    return await parse()
  } catch {
    const { yamlToJson } = await yaml()
    const value = parseJson(await yamlToJson(clock, text))
    if (isPlainObject(value)) return value
    throw new PosthornError('validation', 'malformed yaml content: the document is no mapping')
  }
}

/** A config document in the form that the request asks for. */
export async function documentAnswer(
  document: ConfigDocument,
  { request, url, clock }: { readonly request: Request; readonly url: URL; readonly clock: SliceClock },
): Promise<Response> {
  if (prefersJson(url.searchParams, request.headers.get('accept'))) {
    return json(200, await writeJson(clock, document))
  }
  return new Response(await writeYaml(clock, document), { headers: { 'content-type': 'text/plain; charset=utf-8' } })
}

/** A config document as YAML. @throws PosthornError `validation` when the document is larger than a sync reads. */
async function writeYaml(clock: SliceClock, { endpoints, sources }: ConfigDocument): Promise<string> {
  const { yamlOf } = await yaml()
  const text = await yamlOf(clock, { endpoints: endpoints ?? [], sources: sources ?? [] })
  if (text === null) throw new PosthornError('validation', 'the configuration is too large for YAML: ask for JSON')
  return text
}

/**
 * The same as JSON, keys sorted too: what `JSON.stringify` with two blanks makes of it. There may be thousands of entries, so others get
 * turns in between.
 */
async function writeJson(clock: SliceClock, document: ConfigDocument): Promise<string | Uint8Array> {
  const text = new LongText()
  let separator = '{\n'
  for (const [name, entries] of Object.entries(sorted(document))) {
    text.add(`${separator}  ${JSON.stringify(name)}: [`)
    separator = ',\n'
    let before = '\n'
    await inSlices<unknown>(clock, entries as readonly unknown[], (entry) => {
      const lines = JSON.stringify(entry, (_, value: unknown) => sorted(value), 2)
      text.add(`${before}    ${lines.replaceAll('\n', '\n    ')}`)
      before = ',\n'
    })
    text.add(before === '\n' ? ']' : '\n  ]')
  }
  text.add('\n}\n')
  return text.body()
}

function sorted<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) as Value // the same members
}
