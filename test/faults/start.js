// Runs the faults that are named, or all: `npm run faults -- postgres`. Each is bundled from its source first.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { bundle } from '../support/bundle.js'

const here = fileURLToPath(new URL('.', import.meta.url))
const all = readdirSync(here).flatMap((file) => (file.endsWith('.faults.ts') ? [file.replace('.faults.ts', '')] : []))
const named = process.argv.slice(2)

for (const name of named.length > 0 ? named : all) {
  const outfile = `${here}.build/${name}.js`
  await bundle(`${here}${name}.faults.ts`, outfile)
  const { status } = spawnSync(process.execPath, ['--expose-gc', outfile], { stdio: 'inherit', cwd: `${here}../..` })
  if (status !== 0) process.exitCode = 1
}
