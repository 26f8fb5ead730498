import { Command } from 'commander'

import type { Terminal } from './terminal.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** What every command works with. */
export interface Surroundings {
  readonly terminal: Terminal
  readonly env: Environment
}

/** Makes a command of the command line. */
export type MakeCommand = (surroundings: Surroundings) => Command

/** A command with what all commands have: examples in the help text, `--json`, and errors that are thrown. */
export function command(name: string, description: string, ...examples: readonly string[]): Command {
  return new Command(name)
    .description(description)
    .option('--json', 'write JSON for programs')
    .addHelpText('after', `\nExample:\n${examples.map((each) => `  ${each}`).join('\n')}`)
    .allowExcessArguments(false)
    .exitOverride()
}

/** A word that only holds other commands: `posthorn events send`. */
export function group(name: string, description: string, ...members: readonly Command[]): Command {
  const made = new Command(name).description(description).exitOverride()
  for (const member of members) made.addCommand(member)
  return made
}
