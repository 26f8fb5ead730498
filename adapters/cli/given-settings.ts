import type { Environment } from './command.ts'
import { configurationFile } from './configuration-file.ts'
import { Failure, UsageError } from './failure.ts'
import { readSettings, type ReadSettings } from './read-settings.ts'

export async function settingsOf(env: Environment, config: string | undefined): Promise<ReadSettings> {
  const { values } = await configurationFile(config)
  return readSettings(env, values)
}

/** All mistakes at once. */
export function allOf(problems: readonly string[]): string {
  const [only] = problems
  if (problems.length === 1) return only!
  return `${problems.length} settings are wrong:\n${problems.map((each) => `  ${each}`).join('\n')}`
}

/** For a package that is missing, the message says what to install. */
export function explained(error: unknown): unknown {
  const text = error instanceof Error ? error.message : ''
  if (/^(createPosthorn|portal): /.test(text)) return new UsageError(text.replace('createPosthorn: ', ''))
  return /needs (the package|a client)/.test(text) ? new Failure(text.replace(/^open\w+ /, 'the server ')) : error
}
