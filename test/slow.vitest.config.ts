import { configDefaults, mergeConfig } from 'vitest/config'

import config, { slow } from './vitest.config.ts'

// `npm run test:slow`, once the package is built.
const { test } = config
export default mergeConfig(
  { ...config, test: { ...test, include: [], exclude: [] } },
  { test: { include: slow, exclude: configDefaults.exclude } },
)
