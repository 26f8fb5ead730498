import { fileURLToPath } from 'node:url'

import { openPostgres } from '../../dist/postgres/index.js'
import { bundle } from '../support/bundle.js'

const here = fileURLToPath(new URL('.', import.meta.url))

/** A PostgreSQL of one's own, migrated: POSTHORN_TEST_DATABASE_URL, else a server that `stop` ends. */
export async function startPostgres(settings) {
  await bundle(`${here}../support/postgres.ts`, `${here}.build/postgres.js`)
  const { startPostgres: start } = await import('./.build/postgres.js')
  const server = await start(settings)
  if (server.url === null) throw new Error('There is no PostgreSQL to test on')
  const schema = `posthorn_browser_${process.pid}`
  const storage = openPostgres(server.url, { schema })
  await storage.migrate()
  return { storage, schema, url: server.url, stop: () => server.stop() }
}
