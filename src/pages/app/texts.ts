import { english, type TextKey } from './english/index.ts'
import { settings } from './kit/settings.ts'

export type { TextKey }

const texts: Readonly<Record<string, string | undefined>> = { ...english, ...settings.texts }

/** The text of a key, filled in. */
export function t(key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
  return (texts[key] ?? english[key]).replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}

/** The text of a key that is made of parts; the last part where the key has no text. */
export function tOf(prefix: string, name: string): string {
  return texts[`${prefix}.${name}`] ?? name
}
