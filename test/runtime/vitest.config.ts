import { fileURLToPath } from 'node:url'

import { defineConfig } from 'vitest/config'

// One of its own, for the config of the folder above leaves these tests out. They share the machine with what they start.
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('.', import.meta.url)),
    include: ['*.test.ts'],
    globalSetup: '../support/global-setup.ts',
    reporters: ['default', '../reporter.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
