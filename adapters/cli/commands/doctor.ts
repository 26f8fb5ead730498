import type { Command } from 'commander'

import { command, type Surroundings } from '../command.ts'
import { settingsOf } from '../given-settings.ts'
import { now } from '../now.ts'
import { wrapped } from '../terminal.ts'

export function doctorCommand({ terminal, env }: Surroundings): Command {
  return command(
    'doctor',
    'look for what is set up wrongly, and say what to do; changes nothing',
    'DATABASE_URL=postgres://localhost/app posthorn doctor',
  )
    .option('--config <file>', 'configuration file (default: posthorn.config.{js,ts,yaml})')
    .action(async ({ config, json }: { config?: string; json?: true }) => {
      const { examine } = await import('../doctor.ts')
      const findings = await examine(await settingsOf(env, config), now)
      const problems = findings.filter(({ level }) => level === 'problem').length
      if (problems > 0) process.exitCode = 1
      if (json) return terminal.json({ problems, findings })
      const { line, paint, columns } = terminal
      for (const { check, level, message, advice } of findings) {
        const isGood = level === 'ok'
        const text = wrapped(`${check}: ${message}`, columns - 6)
        line(`${paint(isGood ? 'green' : 'red', isGood ? 'ok   ' : 'WRONG')} ${text.replaceAll('\n', '\n      ')}`)
        if (advice !== undefined) line(paint('dim', wrapped(advice, columns, '      ')))
      }
      line(problems === 0 ? 'Nothing is wrong.' : `${problems} ${problems === 1 ? 'thing is' : 'things are'} wrong.`)
    })
}
