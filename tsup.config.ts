import { copyFileSync, readdirSync, readFileSync } from 'node:fs'

import { defineConfig, type Options } from 'tsup'

import { pages } from './test/support/pages.ts'
import { sharedFile } from './test/support/shared-file.ts'
import { texts } from './test/support/texts.ts'

/** What the package exports: the path in `dist` and the source of it. */
export const entries: Readonly<Record<string, string>> = {
  index: 'src/index.ts',
  client: 'src/client.ts',
  verify: 'src/verify.ts',
  otel: 'src/otel.ts',
  'contracts/index': 'src/contracts/index.ts',
  'testing/index': 'src/testing/index.ts',
  'event-validation/index': 'src/plugins/event-validation/index.ts',
  'function/index': 'src/plugins/function/index.ts',
  'memory/index': 'adapters/memory/index.ts',
  'node/index': 'adapters/node/index.ts',
  'pages/dashboard': 'src/pages/dashboard.ts',
  'pages/portal': 'src/pages/portal.ts',
  'pages/portal-client': 'src/pages/portal-client.ts',
  'postgres/index': 'adapters/postgres/index.ts',
  'redis/index': 'adapters/redis/index.ts',
}

const shared = {
  format: 'esm',
  platform: 'neutral',
  target: 'es2023',
  splitting: true,
  removeNodeProtocol: false,
  clean: true,
} satisfies Options

/** A package that is part of the built package; the licence lies beside the files. */
export const joined = 'ipaddr.js'

/** Packages that are part of the built command line, so that nobody has to install them. */
export const bundled: readonly string[] = ['@hono/node-server', 'commander', 'hono']

/** Their licences, which must go where their code goes; and `require`, which one of them calls for modules of Node. */
const preamble = [
  ...bundled.map((name) => `/*! ${name}\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8').trim()}\n*/`),
  `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url)`,
].join('\n')

export default defineConfig([
  {
    ...shared,
    name: 'package',
    entry: { ...entries },
    outDir: 'dist',
    external: [/^node:/],
    // Node takes as long to load a CommonJS package as all the rest of an import of ours.
    noExternal: [joined],
    clean: ['!cli/**'],
    dts: true,
    sourcemap: true,
    onSuccess: async () => copyFileSync(`node_modules/${joined}/LICENSE`, `dist/LICENSE-${joined}.txt`),
    esbuildPlugins: [pages, texts],
    plugins: [sharedFile('dist', Object.keys(entries))],
  },
  {
    ...shared,
    name: 'command line',
    entry: ['adapters/cli/index.ts'],
    outDir: 'dist/cli',
    platform: 'node',
    // It uses the package as its users do.
    external: [/^posthorn(\/|$)/],
    noExternal: [...bundled],
    banner: { js: preamble },
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
