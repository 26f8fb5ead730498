import type { Logger } from 'posthorn'

import { now } from './now.ts'
import type { Settings } from './settings.ts'

type Level = keyof Logger
type Details = Readonly<Record<string, unknown>>
const levels: readonly Level[] = ['debug', 'info', 'warn', 'error']

/** Writes a line for each entry to standard output: JSON, or the message with its details for people. */
export function lineLogger(
  { log, logLevel = log === 'json' ? 'info' : 'warn' }: Pick<Settings, 'log' | 'logLevel'>,
  write: (line: string) => void,
): Logger {
  const least = levels.indexOf(logLevel)
  const at =
    (level: Level) =>
    (message: string, details: Details = {}): void => {
      if (levels.indexOf(level) < least) return
      if (log === 'text') return write(Object.keys(details).length === 0 ? message : `${message} ${textOf(details)}`)
      write(textOf({ time: new Date(now()).toISOString(), level, message, ...details }))
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** JSON.stringify writes an error as `{}`. */
function textOf(details: Details): string {
  return JSON.stringify(details, (_, value: unknown) => (value instanceof Error ? value.message : value))
}
