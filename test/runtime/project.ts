import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))
const installed = fileURLToPath(new URL('node_modules', import.meta.url))

/** How each runtime runs a file. Of Node the lowest release of each line that is supported, and the newest line. */
export const runtimes: Readonly<Record<string, readonly string[]>> = {
  'Node 20': [join(installed, 'node-20/bin/node')],
  'Node 22': [join(installed, 'node-22/bin/node')],
  'Node 24': [join(installed, 'node-24/bin/node')],
  Deno: [
    join(installed, '@deno/linux-x64-glibc/deno'),
    'run',
    '-A',
    '--quiet',
    '--no-lock',
    '--node-modules-dir=manual',
  ],
  Bun: [join(installed, '@oven/bun-linux-x64/bin/bun')],
}
export const workerd = join(installed, '@cloudflare/workerd-linux-64/bin/workerd')

/** A project that has installed the packed package, and beside it the frameworks and drivers of this folder. */
export function makeProject(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-project-'))
  const npm = (args: readonly string[], cwd: string) =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const [packed] = JSON.parse(npm(['pack', '--json', '--pack-destination', folder], root)) as [{ filename: string }]
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  npm(['install', '--no-audit', '--no-fund', '--prefer-offline', join(folder, packed.filename)], folder)
  for (const name of packages(installed)) {
    const place = join(folder, 'node_modules', name)
    if (existsSync(place)) continue
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(join(installed, name), place)
  }
  cpSync(join(root, '.build/examples'), folder, { recursive: true })
  return { folder, remove: () => rmSync(folder, { recursive: true }) }
}

function packages(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(folder, name)).map((each) => `${name}/${each}`) : [name],
    )
}
