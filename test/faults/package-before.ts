import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The last commit before open attempts stood in the rows of their jobs: its package knows the schema up to version 14. */
export const commitBefore = 'ba94ba734c01a4317f47a71c8fa74e1a2e78d0df'

/** The entries of a package that a process is made of. */
export interface Package {
  readonly main: typeof import('../../adapters/node/index.ts')
  readonly postgres: typeof import('../../adapters/postgres/index.ts')
}

/** Builds the package of that commit in a folder of its own, with the installed dependencies of this one. Takes half a minute. */
export async function packageBefore(): Promise<Package & { remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-before-'))
  const archive = execFileSync('git', ['archive', commitBefore], { maxBuffer: 256 * 1024 * 1024 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  execFileSync('npx', ['tsup', '--no-dts', '--silent'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] })
  return { ...(await packageIn(folder)), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The package that was built in a folder. */
export async function packageIn(folder: string): Promise<Package> {
  const load = async (file: string): Promise<unknown> => await import(pathToFileURL(join(folder, 'dist', file)).href)
  return {
    main: (await load('node/index.js')) as Package['main'], // the entries as they are built
    postgres: (await load('postgres/index.js')) as Package['postgres'],
  }
}
