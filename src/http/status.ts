import type { Context } from '../context.ts'
import { lazy } from '../runtime/lazy.ts'
import type { ProcessMetrics } from '../services/process-metrics.ts'
import type { Services } from '../services/use-cases.ts'
import type { Handler } from '../surface/handler.ts'
import { errorResponse, json } from './respond.ts'

const metrics = lazy(() => import('./metrics.ts'))

/**
 * Serves the status report on any path. On paths that end in `/live` it says that this process turns, asking no engine; in
 * `/ready` or `/health` the health, with 503 while storage or queue is DOWN; in `/metrics` metrics.
 */
export function statusHandler(
  ctx: Context,
  services: Pick<Services, 'status' | 'health'>,
  seen: ProcessMetrics,
): Handler {
  async function answer(path: string): Promise<Response> {
    if (path.endsWith('/metrics')) {
      const { metricsText, metricsType } = await metrics()
      return new Response(await metricsText(ctx, seen), { headers: { 'content-type': metricsType } })
    }
    if (path.endsWith('/live')) return json(200, { status: 'UP' })
    if (!/\/(health|ready)$/.test(path)) return json(200, await services.status())
    const health = await services.health()
    return json(health.status === 'UP' ? 200 : 503, health)
  }

  return {
    async fetch(request) {
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        return json(405, { message: 'method not allowed' }, { allow: 'GET, HEAD' })
      }
      const path = new URL(request.url).pathname.replace(/\/$/, '')
      const response = await answer(path).catch((cause: unknown) => errorResponse(ctx, cause))
      return request.method === 'HEAD' ? new Response(null, response) : response
    },
  }
}
