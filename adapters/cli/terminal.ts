import { styleText } from 'node:util'

export type Style = 'green' | 'red' | 'yellow' | 'cyan' | 'dim' | 'bold'

/** Where a command writes. Results go to standard output; progress and errors to standard error. */
export interface Terminal {
  /** Whether a person reads standard output. */
  readonly isInteractive: boolean
  /** Columns that a line may have; a program that reads gets whole lines. */
  readonly columns: number
  line(text?: string): void
  /** A value as one line of JSON. */
  json(value: unknown): void
  /** Progress and remarks, which are no result. */
  note(text: string): void
  /** Coloured where a person reads it and `NO_COLOR` is not set. */
  paint(style: Style, text: string): string
}

export function terminal(env: Readonly<Record<string, string | undefined>>): Terminal {
  const { stdout, stderr } = process
  const isInteractive = stdout.isTTY
  // https://no-color.org: any value that is not empty.
  const coloured = isInteractive && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
  // A reader that has seen enough (`| head`) closes the pipe.
  stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  return {
    isInteractive,
    columns: isInteractive ? Math.max(40, stdout.columns) : Infinity,
    line: (text = '') => void stdout.write(`${text}\n`),
    json: (value) => void stdout.write(`${JSON.stringify(value)}\n`),
    note: (text) => void stderr.write(`${fitted(text, stderr.isTTY ? Math.max(40, stderr.columns) : Infinity)}\n`),
    paint: (style, text) => (coloured ? styleText(style, text) : text),
  }
}

/**
 * A text on one line of at most `columns` columns. Texts from outside must not move the cursor: control characters
 * become `?`.
 */
export function cut(text: string, columns: number): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is replaced
  const plain = text.replaceAll(/[\r\n\t]+/g, ' ').replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?')
  const characters = Array.from(plain)
  return characters.length <= columns ? plain : `${characters.slice(0, Math.max(0, columns - 1)).join('')}…`
}

/** Rows in columns, two blanks apart; the last column takes what is left of the line. */
export function tableLines(rows: readonly (readonly string[])[], columns: number): string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)))
  return rows.map((row) => {
    const cells = row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i]!)))
    return cut(cells.join('  '), columns).trimEnd()
  })
}

/** A text in lines of at most so many columns, broken at blanks. */
export function wrapped(text: string, columns: number, indent = ''): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!
    if (last !== '' && last.length + 1 + word.length > columns - indent.length) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines.map((line) => indent + line).join('\n')
}

/** A text whose lines that are too long go on below, further in. Words that are too long stay whole. */
export function fitted(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => {
      const indent = /^ */.exec(line)![0]
      return line.length <= columns ? line : indent + wrapped(line.trim(), columns, `${indent}  `).trimStart()
    })
    .join('\n')
}
