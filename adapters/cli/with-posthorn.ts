import type { Posthorn } from 'posthorn'

import type { Environment } from './command.ts'
import { allOf, explained, settingsOf } from './given-settings.ts'
import { UsageError } from './failure.ts'
import { lineLogger } from './logger.ts'
import type { CodeOptions } from './read-settings.ts'
import type { Settings } from './settings.ts'
import type { Terminal } from './terminal.ts'

interface Place {
  readonly env: Environment
  readonly config: string | undefined
  readonly terminal: Terminal
  /** Names of settings beside those of engine and secrets whose mistakes matter to the work. Default: none. */
  readonly needs?: RegExp
}

/**
 * Works with the engine itself, as a server with the same settings would.
 * @throws UsageError for wrong settings, and where no engine is set that processes share.
 */
export async function withPosthorn<Answer>(
  { env, config, terminal, needs }: Place,
  work: (posthorn: Posthorn, settings: Settings, code: CodeOptions) => Promise<Answer>,
): Promise<Answer> {
  const { settings, code, problems } = await settingsOf(env, config)
  // What is wrong for a server is no matter here; a wrong engine or key is.
  const ours = problems.filter((each) => /database|redis|secrets|plugins/i.test(each) || needs?.test(each))
  if (ours.length > 0) throw new UsageError(allOf(ours))
  const { openEngine } = await import('./engine.ts')
  const { makePosthorn } = await import('./serve.ts')
  const engine = await openEngine(settings, code)
  if (engine.names.length === 0)
    throw new UsageError('set DATABASE_URL or REDIS_URL: what a server has in memory is in that server alone')
  try {
    const logger = lineLogger({ log: 'text', logLevel: 'error' }, terminal.note)
    const posthorn = await makePosthorn(settings, code, engine, logger)
    try {
      await engine.options.storage?.verify?.()
      return await work(posthorn, settings, code)
    } finally {
      await posthorn.stop() // lets go of the engine
    }
  } catch (error) {
    throw explained(error)
  }
}
