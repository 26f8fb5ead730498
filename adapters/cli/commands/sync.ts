import { readFileSync } from 'node:fs'

import type { Command } from 'commander'
import type { ConfigDocument, SyncReport } from 'posthorn'

import { adminOf, type AdminOptions, withAdminOptions } from '../admin.ts'
import { command, type Surroundings } from '../command.ts'
import type { RowChange } from '../difference.ts'
import { UsageError } from '../failure.ts'
import { cut, type Style, type Terminal, wrapped } from '../terminal.ts'

interface Given extends AdminOptions {
  readonly dryRun?: boolean
  readonly json?: true
}

export function syncCommand({ terminal, env }: Surroundings): Command {
  return withAdminOptions(
    command(
      'sync',
      'make a workspace what a file says, and show what changes',
      'posthorn sync posthorn.yaml --dry-run',
    ),
  )
    .argument('<file>', 'YAML or JSON with endpoints, sources and their plugins; - reads standard input')
    .option('--dry-run', 'change nothing')
    .action(async (file: string, { dryRun = false, json, ...options }: Given) => {
      const document = await documentOf(file)
      const admin = adminOf(options, env)
      const before = await admin.config.dump(admin.workspace)
      const report = await admin.config.sync(admin.workspace, document, { dryRun })
      const { rehearsed } = await import('../rehearsal.ts')
      const changes = await rehearsed(before, document, report)
      if (json) return terminal.json({ dry_run: dryRun, ...report, changes })
      if (dryRun) terminal.line(terminal.paint('bold', 'Dry run: nothing was written.'))
      show(terminal, report, changes)
      for (const kind of absentKinds(document, report))
        terminal.line(`The file does not name ${kind}: they stay as they are.`)
    })
}

/** @throws UsageError when the file cannot be read, or holds neither YAML nor JSON. */
async function documentOf(file: string): Promise<ConfigDocument> {
  let text: string
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  const { parse } = await import('yaml')
  try {
    return parse(text) as ConfigDocument // the server checks it
  } catch (error) {
    throw new UsageError(
      `${file} is neither YAML nor JSON: ${(error as Error).message.split('\n')[0]!.replace(/:$/, '')}`,
    )
  }
}

const kinds = ['endpoints', 'sources'] as const

/** Kinds that the document does not name and that the server left alone. */
function absentKinds(document: ConfigDocument, report: SyncReport): string[] {
  return kinds.filter((kind) => !(kind in (document ?? {})) && report[kind].deleted === 0)
}

const marks = { created: ['+', 'green'], updated: ['~', 'yellow'], deleted: ['-', 'red'] } as const satisfies Record<
  RowChange['change'],
  readonly [string, Style]
>

function show(terminal: Terminal, report: SyncReport, changes: readonly RowChange[] | null): void {
  for (const { change, kind, row, fields } of changes ?? []) {
    const [mark, style] = marks[change]
    terminal.line(terminal.paint(style, cut(`${mark} ${kind} ${row}`, terminal.columns)))
    for (const field of fields) terminal.line(terminal.paint('dim', `    ${cut(field, terminal.columns - 4)}`))
  }
  if (changes === null)
    terminal.line('The rows are not shown: the server knows plugins or rules that are not known here.')
  for (const kind of [...kinds, 'plugins'] as const) {
    const { created, updated, deleted, unchanged } = report[kind]
    terminal.line(
      `${kind.padEnd(9)} ${created} created, ${updated} updated, ${deleted} deleted, ${unchanged} unchanged`,
    )
  }
  for (const warning of report.warnings ?? []) {
    terminal.line(terminal.paint('yellow', wrapped(`warning: ${cut(warning, 512)}`, terminal.columns)))
  }
}
