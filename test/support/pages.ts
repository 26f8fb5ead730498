import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Plugin } from 'esbuild'
import { build, type Rollup } from 'vite'

const suffix = '?page'
const configFile = fileURLToPath(new URL('../../src/pages/app/vite.config.ts', import.meta.url))
/** Packages that are part of the pages. Their licences go where their code goes. */
export const bundledInPages: readonly string[] = ['preact', '@preact/signals', '@preact/signals-core', 'uplot']

const licences = bundledInPages
  .map((name) => `/*! ${name}\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8').trim()}\n*/`)
  .join('\n')

const built = new Map<string, Promise<{ script: string; style: string }>>()

/** A page for the browser: one script with all that it imports, one style sheet. */
function pageOf(file: string): Promise<{ script: string; style: string }> {
  let page = built.get(file)
  if (page === undefined) built.set(file, (page = buildPage(file)))
  return page
}

async function buildPage(file: string): Promise<{ script: string; style: string }> {
  const answer = await build({
    configFile,
    mode: 'production',
    build: { rollupOptions: { input: file, output: { inlineDynamicImports: true } } },
  })
  const { output } = answer as Rollup.RollupOutput // one output, nothing watched
  const script = output.find((each) => each.type === 'chunk')?.code ?? ''
  const style = output.find((each) => each.fileName.endsWith('.css')) as Rollup.OutputAsset | undefined
  return { script: `${licences}\n${script}`, style: String(style?.source ?? '') }
}

/** Answers `import page from './main.tsx?page'` in the build of the package. */
export const pages: Plugin = {
  name: 'pages',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\?page$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.slice(0, -suffix.length)),
      namespace: 'page',
    }))
    onLoad({ filter: /./, namespace: 'page' }, async ({ path }) => ({
      contents: JSON.stringify(await pageOf(path)),
      loader: 'json',
    }))
  },
}

/** The same in tests. */
export const pagesInTests = {
  name: 'pages',
  enforce: 'pre' as const,
  async load(id: string) {
    if (!id.endsWith(suffix)) return null
    return `export default ${JSON.stringify(await pageOf(id.slice(0, -suffix.length)))}`
  },
}
