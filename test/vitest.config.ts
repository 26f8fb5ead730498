import { fileURLToPath } from 'node:url'

import { configDefaults, defineConfig } from 'vitest/config'

import { pagesInTests } from './support/pages.ts'
import { textOf } from './support/texts.ts'

const suffix = '?text'

/** What takes long: some two hundred processes, killed engines, faults under load, many seeds. `npm run test:slow` runs them. */
export const slow = [
  'test/cli/**/*.test.ts',
  'test/adapters/*-kill.test.ts',
  'test/adapters/postgres-{faults,pgbouncer}.test.ts',
  'test/simulation/{many-seeds,postgres}.test.ts',
]

export default defineConfig({
  plugins: [
    pagesInTests,
    {
      name: 'texts',
      enforce: 'pre',
      async load(id) {
        if (!id.endsWith(suffix)) return null
        return `export default ${JSON.stringify(await textOf(id.slice(0, -suffix.length)))}`
      },
    },
  ],
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/**/*.test.ts'],
    // These folders have a package.json of their own, so that the main install stays light.
    exclude: [
      ...configDefaults.exclude,
      'test/{bench,browser,clients,faults,interop,json-schema,package,runtime,transactions}/**',
      ...slow,
    ],
    // Most files wait for servers and timers more than they compute.
    maxWorkers: 3,
    // Loaded machines are slow; what hangs is still caught.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    globalSetup: './test/support/global-setup.ts',
    reporters: ['default', './test/reporter.ts'],
  },
})
