import type { TestProject } from 'vitest/node'

import { startPostgres } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the run's own PostgreSQL; null where there is none. */
    postgresUrl: string | null
  }
}

/** Boots the servers of a test run, side by side, and stops them after it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres()
  project.provide('postgresUrl', postgres.url)
  return async () => {
    await postgres.stop()
  }
}
