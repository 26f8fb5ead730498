import { defineConfig } from 'vitest/config'

// One of its own, for the config of the folder above leaves these tests out. Toolchains that compile take minutes.
export default defineConfig({
  test: {
    include: ['*.test.ts'],
    reporters: ['default', '../reporter.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
