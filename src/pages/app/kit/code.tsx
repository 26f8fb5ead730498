import { useState } from 'preact/hooks'

import { t } from '../texts.ts'
import { Copy } from './copy.tsx'
import { bytes } from './figures.tsx'

/** Longer texts make the page slow. They are cut, and copied whole. */
const maxShown = 200_000

/** A text as it was recorded, shown as text alone; JSON formatted where the reader likes. */
export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  const pretty = formatted(text)
  const [raw, setRaw] = useState(false)
  const whole = raw || pretty === null ? text : pretty
  const shown = whole.length > maxShown ? whole.slice(0, maxShown) : whole
  return (
    <div class="code">
      <div class="code-bar">
        <span class="code-label">{label}</span>
        {pretty !== null && pretty !== text && (
          <button type="button" class="quiet" aria-pressed={raw} onClick={() => setRaw(!raw)}>
            {t('code.raw')}
          </button>
        )}
        <Copy text={text} quiet />
      </div>
      <pre tabIndex={0} aria-label={label}>
        {shown === '' ? <span class="dim">{t('code.empty')}</span> : shown}
      </pre>
      {shown.length < whole.length && <p class="dim">{t('code.cut', { size: bytes(maxShown) })}</p>}
    </div>
  )
}

/**
 * JSON with a line for each member; null where the text is no object or list. Only white space between tokens changes: numbers
 * and the order of keys stay as they were recorded.
 */
function formatted(text: string): string | null {
  const start = text.trimStart().charAt(0)
  if ((start !== '{' && start !== '[') || text.length > maxShown) return null
  try {
    JSON.parse(text)
  } catch {
    return null
  }
  return indented(text)
}

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** The text is JSON. */
function indented(text: string): string {
  let depth = 0
  let out = ''
  let before = ''
  const line = () => `\n${'  '.repeat(depth)}`
  for (const [part] of text.matchAll(token)) {
    const opens = before === '{' || before === '['
    if (part === '}' || part === ']') {
      depth--
      out += opens ? part : `${line()}${part}`
    } else if (part === ',' || part === ':') {
      out += part === ':' ? ': ' : ','
    } else {
      if (opens || before === ',') out += line()
      out += part
      if (part === '{' || part === '[') depth++
    }
    before = part
  }
  return out
}
