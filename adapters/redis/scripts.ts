import { messageOf } from './answers.ts'
import type { Connection } from './client.ts'

/**
 * A Lua script. It gets one key, the hash tag of the namespace, and makes all others from it, so that they share one
 * slot of a cluster. It answers a flat list of strings, since clients and protocols differ in everything else.
 */
export interface Script {
  readonly text: string
  /** Whether it may run a second time when the first answer was lost. */
  readonly again: boolean
  /** The hash of the script, once a server has answered it. */
  sha: string | null
}

/** The most entries that one run of a script is given. Larger batches go in several runs. */
export const entriesPerScript = 500

export function script(text: string, options: { again: boolean }): Script {
  return { text, again: options.again, sha: null }
}

/** Runs a script by its hash, and by its text where the server does not have the script. */
export async function run(
  connection: Connection,
  script: Script,
  tag: string,
  args: readonly (string | number)[],
): Promise<readonly string[]> {
  const rest = ['1', tag, ...args.map(String)]
  let reply: unknown
  try {
    script.sha ??= (await connection.send('SCRIPT', ['LOAD', script.text], true)) as string // as documented
    reply = await connection.send('EVALSHA', [script.sha, ...rest], script.again)
  } catch (error) {
    if (!messageOf(error).startsWith('NOSCRIPT')) throw error
    reply = await connection.send('EVAL', [script.text, ...rest], script.again)
  }
  return reply as readonly string[] // every script here ends with a list of strings
}

/** Parts of a batch that fit one run each. */
export function chunks<T>(entries: readonly T[], size: number = entriesPerScript): readonly (readonly T[])[] {
  const parts: (readonly T[])[] = []
  for (let start = 0; start < entries.length; start += size) parts.push(entries.slice(start, start + size))
  return parts
}

/** A flat reply as rows of `width` strings. */
export function rowsOf(reply: readonly string[], width: number): readonly (readonly string[])[] {
  return chunks(reply, width)
}
