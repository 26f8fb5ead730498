import { configDefaults, mergeConfig } from 'vitest/config'

import config from './vitest.config.ts'

// `npm run test:cli`, once the package is built.
const { test } = config
export default mergeConfig(
  { ...config, test: { ...test, include: [], exclude: [] } },
  { test: { include: ['test/cli/**/*.test.ts'], exclude: configDefaults.exclude } },
)
