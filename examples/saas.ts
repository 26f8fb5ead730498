// A service with two tenants: operators have the dashboard, each tenant has the portal of its own workspace.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { createPosthorn } from 'posthorn'
import { dashboard } from 'posthorn/dashboard'
import { portal } from 'posthorn/portal'
import { openPostgres } from 'posthorn/postgres'

import { isOperator } from './auth.ts'

const { DATABASE_URL, ADMIN_TOKEN, PORTAL_SECRET = crypto.randomUUID(), PORT = '3000' } = process.env
const storage = openPostgres(DATABASE_URL ?? '', { max: 10 })
await storage.migrate()
const posthorn = createPosthorn({ storage })
await posthorn.workspaces.ensure({ id: 'acme', name: 'Acme' })
await posthorn.workspaces.ensure({ id: 'globex', name: 'Globex' })
await posthorn.start()

const authorize = (request: Request) => isOperator(request.headers.get('authorization'), ADMIN_TOKEN)
const ops = dashboard(posthorn, { basePath: '/ops/webhooks', authorize })
const customers = portal(posthorn, { basePath: '/webhooks', secret: PORTAL_SECRET, brand: { name: 'Example' } })

const app = new Hono()
app.all('/ops/webhooks/*', ({ req }) => ops.fetch(req.raw))
app.all('/webhooks/*', ({ req }) => customers.fetch(req.raw))
// Stands for a page of the service that a tenant opens when signed in.
app.get('/account/:tenant', async (c) => c.redirect((await customers.session(c.req.param('tenant'))).url))
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(PORT) }, ({ port }) =>
  console.log(`http://127.0.0.1:${port}`),
)
process.once('SIGTERM', () => {
  server.close()
  void posthorn.stop()
})
