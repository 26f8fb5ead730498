import { invalidParameters } from '../services/listing.ts'

const yamlTypes = ['text/plain', 'text/yaml', 'application/yaml', 'text/x-yaml', 'application/x-yaml']

/** Weights have three digits (RFC 9110 section 12.4.2), so this decides between equal weights alone. */
const minWeight = 0.0001

/**
 * Whether a document is wanted as JSON rather than as YAML: `?format=json` or `yaml` says it, else `Accept` (RFC 9110
 * section 12.5.1). Where both are as welcome, the type that is named more closely; else YAML, as where neither is.
 * @throws PosthornError `validation` when `format` is anything else.
 */
export function prefersJson(search: URLSearchParams, accept: string | null): boolean {
  const format = search.get('format')
  if (format === 'json' || format === 'yaml') return format === 'json'
  if (format !== null) throw invalidParameters(['format: value is not one of the allowed values ["json","yaml"]'])
  const ranges = (accept ?? '*/*').split(',').map(rangeOf)
  const yaml = Math.max(...yamlTypes.map((type) => welcomeOf(type, ranges)))
  return welcomeOf('application/json', ranges) > yaml
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

/** How welcome a type is: the weight in the range that names the type most closely, and a little for how closely. */
function welcomeOf(type: string, ranges: readonly MediaRange[]): number {
  const general = `${type.slice(0, type.indexOf('/'))}/*`
  for (const [name, closeness] of [
    [type, 2],
    [general, 1],
    ['*/*', 0],
  ] as const) {
    const named = ranges.filter((range) => range.type === name)
    const weight = Math.max(...named.map(({ quality }) => quality))
    if (named.length > 0) return weight > 0 ? weight + closeness * minWeight : 0
  }
  return 0
}
