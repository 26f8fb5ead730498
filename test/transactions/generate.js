// Writes the Prisma client of the shop. It needs no engine, but its tool looks for one that it would download.
import { spawnSync } from 'node:child_process'

const { status } = spawnSync('npx', ['prisma', 'generate', '--schema', 'shop.prisma'], {
  cwd: import.meta.dirname,
  env: {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
