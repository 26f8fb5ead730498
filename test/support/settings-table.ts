import { settings, type Setting } from '../../adapters/cli/settings.ts'

/** The table of settings as Markdown, as docs/cli.md shows it. */
export function settingsTable(): string {
  const rows = Object.entries<Setting>(settings).map(([name, { variable, kind, byDefault, meaning }]) => [
    `\`${name}\``,
    `\`${variable}\``,
    defaultOf(byDefault),
    `${meaning} (${kind.form})`,
  ])
  const all = [['name', 'variable', 'default', 'meaning'], ...rows]
  const widths = all[0]!.map((_, i) => Math.max(...all.map((row) => row[i]!.length)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  const [head, ...others] = all
  return [line(head!), line(widths.map((width) => '-'.repeat(width))), ...others.map(line)].join('\n')
}

function defaultOf(value: unknown): string {
  if (value === undefined) return ''
  if (Array.isArray(value)) return value.length === 0 ? 'none' : `\`${value.join(',')}\``
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}
