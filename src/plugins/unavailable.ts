/** The answer of a source whose plugin found no room to run. */
export function unavailable(): Response {
  return new Response('{"message":"service unavailable"}', {
    status: 503,
    headers: { 'content-type': 'application/json; charset=utf-8', 'retry-after': '1' },
  })
}
