import { readFileSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

import { rollup } from 'rollup'
import type { Options } from 'tsup'
import ts from 'typescript'

/** Entries that may be loaded without an instance. What these load stays in small files of its own. */
const light = [
  'client',
  'contracts/index',
  'event-validation/index',
  'function/index',
  'memory/index',
  'otel',
  'pages/portal-client',
  'postgres/index',
  'redis/index',
  'verify',
]

/**
 * Joins the files that every instance loads at once into a single file. esbuild makes a file of its own for each set of
 * entries that share a module, and each late import counts as an entry: an import of the package would load 55 files, and
 * each file costs Node about half a millisecond.
 *
 * @param entries names of files in `dist`, without `.js`.
 */
export function sharedFile(dist: string, entries: readonly string[]): NonNullable<Options['plugins']>[number] {
  return {
    name: 'shared file',
    async buildEnd({ writtenFiles }) {
      const path = (entry: string): string => resolve(dist, `${entry}.js`)
      const loadedLight = new Set(light.flatMap((entry) => [...loadedBy(path(entry))]))
      const loadedByPortable = loadedBy(path('index'))
      const loadedByBoth = [...loadedBy(path('node/index'))].filter((file) => loadedByPortable.has(file))
      const shared = new Set(loadedByBoth.filter((file) => !loadedLight.has(file)))
      const bundle = await rollup({
        input: Object.fromEntries(entries.map((entry) => [entry, path(entry)])),
        external: /^[^./]/,
        treeshake: { moduleSideEffects: false },
        plugins: [{ name: 'source maps', load: withSourceMap }],
        onLog(_level, { code, message }) {
          // The entry of the contracts is empty: it holds types alone.
          if (code !== 'EMPTY_BUNDLE') throw new Error(message)
        },
      })
      for (const { name } of writtenFiles) rmSync(name)
      await bundle.write({
        dir: dist,
        format: 'es',
        sourcemap: true,
        generatedCode: 'es2015',
        entryFileNames: '[name].js',
        // Without esbuild's hash: a name that stays from one version to the next, and a shorter one.
        chunkFileNames: ({ name }) => `${name.replace(/-[A-Z0-9]{8}$/, '')}.js`,
        manualChunks: (id) => (shared.has(id) ? 'shared' : undefined),
        onlyExplicitManualChunks: true,
      })
      await bundle.close()
    },
  }
}

/** A built file and all files that it imports, but for late imports. */
function loadedBy(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found
  found.add(path)
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest)
  for (const statement of file.statements) {
    const from =
      ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement) ? statement.moduleSpecifier : undefined
    if (from && ts.isStringLiteral(from) && from.text.startsWith('.')) loadedBy(join(dirname(path), from.text), found)
  }
  return found
}

/** A built file, with the source map that leads from it to the sources. */
function withSourceMap(path: string): { code: string; map: string } {
  const code = readFileSync(path, 'utf8').replaceAll(/^\/\/# sourceMappingURL=.*$/gm, '')
  return { code, map: readFileSync(`${path}.map`, 'utf8') }
}
