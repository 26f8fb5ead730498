import type { Context } from '../context.ts'
import type { Services } from '../services/services.ts'
import type { Handler } from './handler.ts'
import { errorResponse, json } from './respond.ts'

/** Serves the status report on any path, and the health on paths that end in `/health`. */
export function statusHandler(ctx: Context, services: Pick<Services, 'status' | 'health'>): Handler {
  return {
    async fetch(request) {
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        return json(405, { message: 'method not allowed' }, { allow: 'GET, HEAD' })
      }
      try {
        const { pathname } = new URL(request.url)
        if (!pathname.replace(/\/$/, '').endsWith('/health')) return reply(200, await services.status())
        const health = await services.health()
        return reply(health.status === 'UP' ? 200 : 503, health)
      } catch (cause) {
        return errorResponse(ctx.log, cause)
      }

      function reply(status: number, body: unknown): Response {
        const response = json(status, body)
        return request.method === 'HEAD' ? new Response(null, response) : response
      }
    },
  }
}
