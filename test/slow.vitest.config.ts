import { defineConfig } from 'vitest/config'

import { run, shared, slow } from './vitest.config.ts'

// `npm run test:slow`, once the package is built.
export default defineConfig({ ...shared, test: { ...shared.test, ...run, include: slow } })
