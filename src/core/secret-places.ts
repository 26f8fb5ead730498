import { isPlainObject } from '../schema/fields.ts'
import { isSealed } from './sealed.ts'

/** A text in a row that is a secret. */
export interface SecretPlace {
  /** Where the text stands: keys and positions. */
  readonly path: readonly (string | number)[]
  /** The same without positions: `config.secrets[]`. Headers stand in lower case. */
  readonly field: string
  readonly text: string
  /** Whether the field is named as secret. The others are texts that were sealed all the same. */
  readonly named: boolean
}

/**
 * The secrets in a plugin's config: texts of fields that the kind names, such as `signing_secret` or `secrets[]`, and all
 * texts below such a field; also sealed texts elsewhere, for another version of the kind may have named their field.
 */
export function configSecrets(config: unknown, names: readonly string[]): readonly SecretPlace[] {
  const secret = new Set(names)
  const places: SecretPlace[] = []
  const visit = (value: unknown, path: readonly (string | number)[], field: string, named: boolean): void => {
    const isNamed = named || secret.has(field)
    if (typeof value === 'string') {
      if (isNamed || isSealed(value)) places.push({ path, field: `config.${field}`, text: value, named: isNamed })
    } else if (Array.isArray(value)) {
      value.forEach((item, i) => visit(item, [...path, i], `${field}[]`, isNamed))
    } else if (isPlainObject(value)) {
      for (const [key, item] of Object.entries(value)) {
        visit(item, [...path, key], field === '' ? key : `${field}.${key}`, isNamed)
      }
    }
  }
  visit(config, ['config'], '', false)
  return places
}

/** The secrets in an endpoint's headers: values whose names, in lower case, are in `names`, and sealed texts. */
export function headerSecrets(request: unknown, names: ReadonlySet<string>): readonly SecretPlace[] {
  const headers = isPlainObject(request) ? request['headers'] : null
  if (!isPlainObject(headers)) return []
  return Object.entries(headers).flatMap(([name, text]): SecretPlace[] => {
    if (typeof text !== 'string') return []
    const lower = name.toLowerCase()
    const named = names.has(lower)
    if (!named && !isSealed(text)) return []
    return [{ path: ['request', 'headers', name], field: `request.headers.${lower}`, text, named }]
  })
}

/** A value with other texts at some places. The value itself stays as it is. */
export function withTexts<Value>(
  value: Value,
  texts: readonly { readonly path: readonly (string | number)[]; readonly text: string }[],
): Value {
  return texts.reduce<unknown>((changed, { path, text }) => withTextAt(changed, path, text), value) as Value // texts alone change
}

function withTextAt(value: unknown, [key, ...below]: readonly (string | number)[], text: string): unknown {
  if (key === undefined) return text
  if (Array.isArray(value))
    return value.map((item, i) => (i === key ? withTextAt(item, below, text) : (item as unknown)))
  // fromEntries defines properties: a key such as `__proto__` stays data.
  return Object.fromEntries(
    Object.entries(value as object).map(([name, item]) => [name, name === key ? withTextAt(item, below, text) : item]),
  )
}
