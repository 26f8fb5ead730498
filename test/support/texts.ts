import { join } from 'node:path'

import { build, type Plugin } from 'esbuild'

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
