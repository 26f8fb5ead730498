// Next.js: `app/webhooks/[...path]/route.ts`. Where the server keeps running, call `posthorn.start()` in
// `instrumentation.ts`; where it does not, let a cron job request `/webhooks/tick` as serverless.ts shows.
import { createPosthorn, type Posthorn } from 'posthorn'

import { isOperator } from './auth.ts'

// Development servers load modules anew on each change; the instance outlives that.
const kept = globalThis as { posthorn?: Posthorn }
const posthorn = (kept.posthorn ??= createPosthorn({
  admin: { basePath: '/webhooks/admin' },
  gateway: { basePath: '/webhooks/in' },
}))

async function handle(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/webhooks/status') return Response.json(await posthorn.status())
  if (pathname.startsWith('/webhooks/in/')) return await posthorn.gateway.fetch(request)
  if (!(await isOperator(request.headers.get('authorization'), process.env['ADMIN_TOKEN']))) {
    return new Response('Unauthorized', { status: 401 })
  }
  return await posthorn.admin.fetch(request)
}

export const dynamic = 'force-dynamic'
export { handle as DELETE, handle as GET, handle as PATCH, handle as POST, handle as PUT }
