import type { Context } from '../context.ts'
import { errorResponse } from '../http/respond.ts'
import { plainHeaders } from './shell.ts'

/**
 * The answer of a page's handler, with the headers that all answers have. A HEAD is answered with the headers of the
 * GET alone.
 */
export async function answered(
  ctx: Context,
  request: Request,
  answer: (request: Request) => Promise<Response>,
): Promise<Response> {
  let response: Response
  try {
    response = await answer(request)
  } catch (cause) {
    response = errorResponse(ctx, cause)
  }
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(plainHeaders)) if (!headers.has(name)) headers.set(name, value)
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  const { status, statusText } = response
  return new Response(request.method === 'HEAD' ? null : response.body, { status, statusText, headers })
}
