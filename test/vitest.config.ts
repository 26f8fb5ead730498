import { fileURLToPath } from 'node:url'

import { configDefaults, defineConfig } from 'vitest/config'

import { pagesInTests } from './support/pages.ts'
import { textOf } from './support/texts.ts'

const suffix = '?text'

/** What takes long: some two hundred processes, killed engines, faults under load, many seeds. `npm run test:slow` runs them. */
export const slow = [
  'test/cli/**/*.test.ts',
  'test/adapters/*-kill.test.ts',
  'test/adapters/postgres-{faults,given-up,pgbouncer,queue-before}.test.ts',
  'test/hostile/**/*.test.ts',
  'test/plugins/function-deliveries.test.ts',
  'test/simulation/{broken-adapters,many-seeds,postgres,redis}.test.ts',
  'test/transactional-order.test.ts',
]

/** Files that replace a package, or set what a process has once: each has a process of its own. */
const alone = ['test/otel/**/*.test.ts', 'test/plugins/missing-package.test.ts']

/** What is not tested here: these folders have a package.json of their own, so that the main install stays light. */
const elsewhere = ['test/{bench,browser,clients,faults,interop,json-schema,package,runtime,transactions}/**', ...slow]

/** What each kind of test file has. */
export const shared = {
  plugins: [
    pagesInTests,
    {
      name: 'texts',
      enforce: 'pre' as const,
      async load(id: string) {
        if (!id.endsWith(suffix)) return null
        return `export default ${JSON.stringify(await textOf(id.slice(0, -suffix.length)))}`
      },
    },
  ],
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    // Loaded machines are slow; what hangs is still caught.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
  },
}

/** What a run has once. */
export const run = {
  root: shared.test.root,
  // Most files wait for servers and timers more than they compute.
  maxWorkers: 3,
  globalSetup: './test/support/global-setup.ts',
  reporters: ['default', './test/reporter.ts'],
}

export default defineConfig({
  test: {
    ...run,
    projects: [
      {
        ...shared,
        test: {
          ...shared.test,
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...elsewhere, ...alone],
          // Files share the modules that a process has loaded: loading them for each file takes a third of the time.
          isolate: false,
        },
      },
      { ...shared, test: { ...shared.test, name: 'alone', include: alone } },
    ],
  },
})
