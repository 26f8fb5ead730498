/** What a function sees of the request or the delivery. Header names are lower-case. */
export interface Subject {
  readonly side: 'inbound' | 'outbound'
  readonly host: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** One run of a function. Without a subject only the syntax of the function is checked, and nothing runs. */
export interface Run {
  readonly source: string
  readonly subject: Subject | null
  readonly timeMs: number
}

export interface Line {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly text: string
}

/** How a run ended. Everything in it but `kind` comes from the function. */
export type Ending =
  | {
      readonly kind: 'done'
      readonly lines: readonly Line[]
      /** What the function set; missing where it set nothing. */
      readonly body?: string
      readonly headers: Readonly<Record<string, string>>
    }
  | {
      readonly kind: 'exit'
      readonly lines: readonly Line[]
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
      /** Whether the body was given as a value, not as a string. */
      readonly json: boolean
    }
  | { readonly kind: 'syntax'; readonly message: string }
  | { readonly kind: 'thrown'; readonly lines: readonly Line[]; readonly message: string }
  /** The run exceeded its time, its memory or its stack. */
  | { readonly kind: 'exceeded'; readonly lines: readonly Line[]; readonly limit: 'time' | 'memory' | 'stack' }

/** The most that one run may log and hand over. */
export const bounds = {
  lines: 100,
  lineLength: 1000,
  headers: 100,
  headerChars: 64 * 1024,
  /** Of a string that is handed over: a body, or a text to encode. */
  chars: 16 * 1024 * 1024,
  bytes: 1024 * 1024,
} as const

/** An ending as a process answered it. @throws TypeError for what is none: the process is not to be trusted with more. */
export function endingOf(answer: unknown): Ending {
  const { kind, lines: told, headers, body, status, json, message, limit } = Object(answer) as Record<string, unknown>
  const lines = told === undefined ? [] : linesOf(told)
  if (kind === 'syntax') return { kind, message: textOf(message, 1000) }
  if (kind === 'thrown') return { kind, lines, message: textOf(message, 1000) }
  if (kind === 'exceeded' && (limit === 'time' || limit === 'memory' || limit === 'stack'))
    return { kind, lines, limit }
  if (kind === 'done') {
    return {
      kind,
      lines,
      headers: headersOf(headers),
      ...(body === undefined ? {} : { body: textOf(body, bounds.chars) }),
    }
  }
  if (kind === 'exit' && typeof status === 'number' && typeof json === 'boolean') {
    return { kind, lines, status, headers: headersOf(headers), body: textOf(body, bounds.chars), json }
  }
  throw new TypeError('the function ended in an unknown way')
}

function textOf(value: unknown, max: number): string {
  if (typeof value !== 'string' || value.length > max) throw new TypeError('the function handed over what is no text')
  return value
}

function linesOf(value: unknown): readonly Line[] {
  if (!Array.isArray(value) || value.length > bounds.lines) throw new TypeError('the function told too many lines')
  return value.map((line: unknown) => {
    const { level, text } = Object(line) as Record<string, unknown>
    if (!isLevel(level)) throw new TypeError('the function told a line of an unknown level')
    return { level, text: textOf(text, bounds.lineLength) }
  })
}

export function isLevel(value: unknown): value is Line['level'] {
  return value === 'debug' || value === 'info' || value === 'warn' || value === 'error'
}

function headersOf(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(Object(value) as object)
  if (entries.length > bounds.headers) throw new TypeError('the function set too many headers')
  return Object.fromEntries(entries.map(([name, text]) => [name, textOf(text, bounds.headerChars)]))
}
