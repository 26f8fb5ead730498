// Runs the benches that are named, or all: `npm start -- send`. Words that name no bench are for those before: `-- shares redis`.
// Each is bundled from its source first.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { bundle } from '../support/bundle.js'

const here = fileURLToPath(new URL('.', import.meta.url))
const all = readdirSync(here).flatMap((file) => (file.endsWith('.bench.ts') ? [file.replace('.bench.ts', '')] : []))
const named = process.argv.slice(2).filter((word) => all.includes(word))
const words = process.argv.slice(2).filter((word) => !all.includes(word))
if (named.length === 0 && words.some((word) => !word.startsWith('-'))) {
  throw new Error(`There is no bench ${words.join(' ')}; there are ${all.join(', ')}`)
}

for (const name of named.length > 0 ? named : all) {
  const outfile = `${here}.build/${name}.js`
  await bundle(`${here}${name}.bench.ts`, outfile)
  const { status } = spawnSync(process.execPath, ['--expose-gc', outfile, ...words], { stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
