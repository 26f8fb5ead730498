import { readFileSync } from 'node:fs'

import { Command, CommanderError } from 'commander'

import type { Environment, MakeCommand } from './command.ts'
import { deliveriesCommand } from './commands/deliveries.ts'
import { devCommand } from './commands/dev.ts'
import { doctorCommand } from './commands/doctor.ts'
import { dumpCommand } from './commands/dump.ts'
import { eventsCommand } from './commands/events.ts'
import { listenCommand } from './commands/listen.ts'
import { migrateCommand } from './commands/migrate.ts'
import { portalLinkCommand } from './commands/portal-link.ts'
import { replayCommand } from './commands/replay.ts'
import { secretsCommand } from './commands/secrets.ts'
import { serveCommand } from './commands/serve.ts'
import { statusCommand } from './commands/status.ts'
import { syncCommand } from './commands/sync.ts'
import { verifyCommand } from './commands/verify.ts'
import { sentenceOf, UsageError } from './failure.ts'
import { terminal as terminalOf } from './terminal.ts'

/** In the order in which the help lists them. */
const commands: readonly MakeCommand[] = [
  devCommand,
  serveCommand,
  migrateCommand,
  syncCommand,
  dumpCommand,
  statusCommand,
  doctorCommand,
  eventsCommand,
  deliveriesCommand,
  replayCommand,
  listenCommand,
  verifyCommand,
  secretsCommand,
  portalLinkCommand,
]

/** Runs one command and answers the exit code: 0 done, 1 failed, 2 called wrongly. */
export async function run(args: readonly string[], env: Environment): Promise<number> {
  const terminal = terminalOf(env)
  const program = new Command('posthorn')
    .description('Webhooks: a server, and the daily work with it.')
    .version(versionOfPackage())
    .exitOverride()
    .addHelpText('after', '\nExample:\n  posthorn dev\n\n`posthorn COMMAND --help` shows the options of a command.')
  for (const make of commands) program.addCommand(make({ terminal, env }))
  try {
    if (args.length === 0) program.help({ error: true })
    await program.parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2 // said by the library already
    const code = error instanceof UsageError ? 2 : 1
    const message = sentenceOf(error)
    if (args.includes('--json')) process.stderr.write(`${JSON.stringify({ error: message })}\n`)
    else terminal.note(`posthorn: ${message}`)
    return code
  }
}

/** Beside the sources and beside the built files the manifest lies two folders up. */
function versionOfPackage(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { readonly version: string }).version
}
