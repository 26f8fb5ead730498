import { existsSync, readFileSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { UsageError } from './failure.ts'

const names = ['js', 'mjs', 'ts', 'mts', 'yaml', 'yml'].map((ending) => `posthorn.config.${ending}`)

/** What a configuration file holds: names of settings with values, and what only code can give. */
export type FileValues = Readonly<Record<string, unknown>>

/**
 * Reads the configuration file: the file that is named, else `posthorn.config.*` of the working directory, else
 * nothing.
 * @throws UsageError for a file that does not exist or cannot be read, and when two such files exist.
 */
export async function configurationFile(
  named: string | undefined,
): Promise<{ path: string | null; values: FileValues }> {
  const found = named === undefined ? names.filter((name) => existsSync(name)) : [named]
  if (found.length > 1) throw new UsageError(`there are ${found.join(' and ')}: keep one, or name it with --config`)
  const [path] = found
  if (path === undefined) return { path: null, values: {} }
  if (!existsSync(path)) throw new UsageError(`there is no configuration file ${path}`)
  const values = await valuesOf(path)
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw new UsageError(`${path} must hold names of settings with their values`)
  }
  return { path, values: values as FileValues }
}

async function valuesOf(path: string): Promise<unknown> {
  try {
    const { parse } = await import('yaml')
    if (/^\.ya?ml$/.test(extname(path))) return (parse(readFileSync(path, 'utf8')) as unknown) ?? {}
    const module = (await import(pathToFileURL(resolve(path)).href)) as { readonly default?: unknown }
    return module.default
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      throw new UsageError(`${path}: this Node reads no TypeScript; use Node 22.18 or later, or a .js file`)
    }
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message.split('\n')[0] : 'unknown'}`)
  }
}
