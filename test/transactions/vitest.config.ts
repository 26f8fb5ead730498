import { fileURLToPath } from 'node:url'

import { defineConfig } from 'vitest/config'

// One of its own, for the config of the folder above leaves these tests out.
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('.', import.meta.url)),
    include: ['*.test.ts'],
    globalSetup: '../support/global-setup.ts',
    reporters: ['default', '../reporter.ts'],
    testTimeout: 30_000,
  },
})
