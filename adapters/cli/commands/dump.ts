import type { Command } from 'commander'

import { adminOf, type AdminOptions, withAdminOptions } from '../admin.ts'
import { command, type Surroundings } from '../command.ts'

export function dumpCommand({ terminal, env }: Surroundings): Command {
  return withAdminOptions(
    command('dump', 'write the configuration of a workspace, secrets included', 'posthorn dump > posthorn.yaml'),
  ).action(async ({ json, ...options }: AdminOptions & { json?: true }) => {
    const admin = adminOf(options, env)
    const document = await admin.config.dump(admin.workspace)
    if (json) return terminal.json(document)
    const { stringify } = await import('yaml')
    const text = stringify(document, {
      sortMapEntries: true,
      lineWidth: 0,
      blockQuote: 'literal',
      aliasDuplicateObjects: false,
    })
    terminal.line(text.trimEnd())
  })
}
