import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import { build, type Plugin } from 'esbuild'
import { defineConfig, type Options } from 'tsup'

/** What the package exports: the path in `dist` and the source of it. */
export const entries: Readonly<Record<string, string>> = {
  index: 'src/index.ts',
  client: 'src/client.ts',
  verify: 'src/verify.ts',
  otel: 'src/otel.ts',
  'testing/index': 'src/testing/index.ts',
  'event-validation/index': 'src/plugins/event-validation/index.ts',
  'function/index': 'src/plugins/function/index.ts',
  'memory/index': 'adapters/memory/index.ts',
  'node/index': 'adapters/node/index.ts',
  'postgres/index': 'adapters/postgres/index.ts',
  'redis/index': 'adapters/redis/index.ts',
}

/** The text of a module with all that it imports, as an expression: what a process of its own runs. */
export async function textOf(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    minify: true,
    format: 'iife',
    globalName: 'program',
    platform: 'neutral',
    target: 'es2023',
    write: false,
  })
  return `(() => {${outputFiles[0]!.text}return program.default})()`
}

/** Answers `import text from './program.ts?text'`. */
export const texts: Plugin = {
  name: 'texts',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\?text$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.replace(/\?text$/, '')),
      namespace: 'text',
    }))
    onLoad({ filter: /./, namespace: 'text' }, async ({ path }) => ({ contents: await textOf(path), loader: 'text' }))
  },
}

const shared = {
  format: 'esm',
  platform: 'neutral',
  target: 'es2023',
  splitting: true,
  removeNodeProtocol: false,
  clean: true,
} satisfies Options

export default defineConfig([
  {
    ...shared,
    name: 'package',
    entry: { ...entries },
    outDir: 'dist',
    external: [/^node:/],
    treeshake: true,
    dts: true,
    esbuildPlugins: [texts],
  },
  {
    ...shared,
    name: 'examples',
    entry: readdirSync('examples').flatMap((file) => (file.endsWith('.ts') ? [`./examples/${file}`] : [])),
    outDir: '.build/examples',
    // All bare names stay: the examples import the built package as its users do.
    external: [/^[^./]/],
  },
])
