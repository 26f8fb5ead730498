// Runs the faults that are named, or all: `npm run faults -- postgres`. Each is bundled from its source first.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'

const here = fileURLToPath(new URL('.', import.meta.url))
const all = readdirSync(here).flatMap((file) => (file.endsWith('.faults.ts') ? [file.replace('.faults.ts', '')] : []))
const named = process.argv.slice(2)

for (const name of named.length > 0 ? named : all) {
  const outfile = `${here}.build/${name}.js`
  await build({
    entryPoints: [`${here}${name}.faults.ts`],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'es2023',
    packages: 'external',
    logLevel: 'warning',
  })
  const { status } = spawnSync(process.execPath, [outfile], { stdio: 'inherit', cwd: `${here}../..` })
  if (status !== 0) process.exitCode = 1
}
