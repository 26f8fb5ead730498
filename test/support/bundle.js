// Bundles a TypeScript file as the package is built: what the suites do that run outside of vitest.
import { fileURLToPath, pathToFileURL } from 'node:url'

import { build } from 'esbuild'

const options = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'es2023',
  packages: 'external',
  logLevel: 'warning',
}

/** Writes the bundle of `entry` to `outfile`. */
export async function bundle(entry, outfile) {
  const plugin = `${fileURLToPath(new URL('.', import.meta.url))}.build/texts.js`
  await build({
    ...options,
    entryPoints: [fileURLToPath(new URL('texts.ts', import.meta.url))],
    outfile: plugin,
  })
  const { texts } = await import(pathToFileURL(plugin).href)
  await build({ ...options, entryPoints: [entry], outfile, plugins: [texts] })
}
