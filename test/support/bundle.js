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
  const config = `${fileURLToPath(new URL('.', import.meta.url))}.build/tsup.config-${process.pid}.js`
  await build({
    ...options,
    entryPoints: [fileURLToPath(new URL('../../tsup.config.ts', import.meta.url))],
    outfile: config,
  })
  const { texts } = await import(pathToFileURL(config).href)
  await build({ ...options, entryPoints: [entry], outfile, plugins: [texts] })
}
