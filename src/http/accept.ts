import { invalidParameters } from '../services/listing.ts'

const yamlTypes = ['text/plain', 'text/yaml', 'application/yaml', 'text/x-yaml', 'application/x-yaml']

/**
 * Whether a document is wanted as JSON rather than as YAML: `?format=json` or `yaml` says it, else `Accept` (RFC 9110
 * section 12.5.1). YAML where both are as welcome, or neither is.
 * @throws PosthornError `validation` when `format` is anything else.
 */
export function prefersJson(search: URLSearchParams, accept: string | null): boolean {
  const format = search.get('format')
  if (format === 'json' || format === 'yaml') return format === 'json'
  if (format !== null) throw invalidParameters(['format: value is not one of the allowed values ["json","yaml"]'])
  const ranges = (accept ?? '*/*').split(',').map(rangeOf)
  const yaml = Math.max(...yamlTypes.map((type) => qualityOf(type, ranges)))
  return qualityOf('application/json', ranges) > yaml
}

interface MediaRange {
  readonly type: string
  readonly quality: number
}

function rangeOf(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const given = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = given === undefined ? 1 : Number(given.slice(2))
  return { type, quality: quality >= 0 && quality <= 1 ? quality : 0 }
}

/** The weight of a type: that of the range that names the type most closely. */
function qualityOf(type: string, ranges: readonly MediaRange[]): number {
  const general = `${type.slice(0, type.indexOf('/'))}/*`
  for (const name of [type, general, '*/*']) {
    const named = ranges.filter((range) => range.type === name)
    if (named.length > 0) return Math.max(...named.map(({ quality }) => quality))
  }
  return 0
}
