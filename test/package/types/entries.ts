// The entries beside the root, which need a resolution that knows `exports`. See check.js.
import { createPosthorn } from 'posthorn'
import { createAdminClient } from 'posthorn/client'
import type { Storage } from 'posthorn/contracts'
import { dashboard } from 'posthorn/dashboard'
import { eventValidation } from 'posthorn/event-validation'
import { functionPlugin } from 'posthorn/function'
import { memory } from 'posthorn/memory'
import { createPosthorn as onNode } from 'posthorn/node'
import { openTelemetry } from 'posthorn/otel'
import { portal } from 'posthorn/portal'
import { createPortalClient } from 'posthorn/portal/client'
import { openPostgres, postgres } from 'posthorn/postgres'
import { openRedis, redis } from 'posthorn/redis'
import { createTestPosthorn } from 'posthorn/testing'
import { verifyWebhook } from 'posthorn/verify'

const storage: Storage = memory()
const posthorn = createPosthorn({ storage, plugins: [eventValidation(), functionPlugin()] })

export const all = [
  createAdminClient({ baseUrl: 'https://ops.example', idempotencyKeys: true }),
  createPortalClient,
  createTestPosthorn(),
  dashboard(posthorn, { basePath: '/ops', authorize: () => true }),
  onNode(),
  openPostgres,
  openRedis,
  openTelemetry,
  portal(posthorn, { basePath: '/hooks', secret: 'x'.repeat(32) }),
  postgres,
  redis,
]

export async function take(request: Request): Promise<unknown> {
  return await verifyWebhook(request, ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'])
}
