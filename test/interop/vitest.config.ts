import { defineConfig } from 'vitest/config'

// One of its own, for the config of the folder above leaves these tests out.
export default defineConfig({ test: { include: ['*.test.ts'], reporters: ['default', '../reporter.ts'] } })
