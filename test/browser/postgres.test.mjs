import { after } from 'node:test'

import { journeys } from './journeys.mjs'
import { startPostgres } from './postgres.mjs'

let server

journeys('PostgreSQL', async () => {
  server = await startPostgres()
  return server.storage
})
after(async () => {
  await server?.stop()
})
