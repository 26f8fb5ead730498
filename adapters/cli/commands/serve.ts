import type { Command } from 'commander'

import { command, type Surroundings } from '../command.ts'
import { UsageError } from '../failure.ts'
import { allOf, explained, settingsOf } from '../given-settings.ts'
import { lineLogger } from '../logger.ts'
import { type Settings, settings as table } from '../settings.ts'

interface Given {
  readonly config?: string
  readonly role?: string
  readonly log?: string
  readonly json?: true
}

/** A process that does not end by itself after SIGTERM is ended. */
const latestMs = 9_500

export function serveCommand({ terminal, env }: Surroundings): Command {
  return command('serve', 'run the server', 'DATABASE_URL=postgres://localhost/app posthorn serve --role worker')
    .option('--config <file>', 'configuration file (default: posthorn.config.{js,ts,yaml})')
    .option('--role <role>', 'all, api or worker (default: POSTHORN_ROLE, else all)')
    .option('--log <form>', 'json, or text for people (default: POSTHORN_LOG, else json)')
    .addHelpText('after', `\nSettings (docs/cli.md says what each means):\n${variableLines()}`)
    .action(async (given: Given) => {
      const over = {
        ...(given.role !== undefined && { [table.role.variable]: given.role }),
        ...((given.log ?? given.json) !== undefined && { [table.log.variable]: given.log ?? 'json' }),
      }
      const { settings, code, problems } = await settingsOf({ ...env, ...over }, given.config)
      if (problems.length > 0) throw new UsageError(allOf(problems))
      const write = terminal.line
      const logger = lineLogger(settings, write)
      const { startServer } = await import('../serve.ts')
      const ending = signalled() // a signal that comes while the server starts counts too
      const server = await startServer(settings, code, logger).catch((error: unknown) => {
        throw explained(error)
      })
      announce(settings, server, write, logger.info)
      const signal = await ending
      logger.info('stopping', { signal })
      setTimeout(() => process.exit(0), latestMs).unref()
      await server.stop()
      logger.info('stopped')
      process.exit(0)
    })
}

type Running = Awaited<ReturnType<typeof import('../serve.ts').startServer>>

function announce(
  { log, role, portalSecret }: Settings,
  { engine, faces }: Running,
  write: (line: string) => void,
  info: (message: string, details: Readonly<Record<string, unknown>>) => void,
): void {
  const engines = engine.names.length > 0 ? engine.names.join(' and ') : 'memory'
  if (log === 'json') {
    const urls = Object.entries(faces).map(([name, { url }]) => [name, url] as const)
    return info('listening', { engine: engines, role, ...Object.fromEntries(urls) })
  }
  write(`Posthorn on ${engine.names.length > 0 ? engines : 'memory: nothing survives a restart'}`)
  for (const [name, { url }] of Object.entries(faces)) write(`${name.padEnd(8)} ${url}`)
  if (faces['admin'] === undefined) return
  write(`page     ${faces['admin'].url}/dashboard`)
  if (portalSecret !== undefined) write(`portal   ${faces['admin'].url}/portal`)
}

async function signalled(): Promise<NodeJS.Signals> {
  return await new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal))
  })
}

function variableLines(): string {
  const names = Object.values(table).map(({ variable }) => variable)
  const lines: string[] = []
  for (const name of names) {
    const last = lines.at(-1)
    if (last === undefined || last.length + name.length + 2 > 78) lines.push(`  ${name}`)
    else lines[lines.length - 1] = `${last}, ${name}`
  }
  return lines.join('\n')
}
