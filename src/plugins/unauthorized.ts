/** The one answer of every plugin that guards a source; it tells nothing of the reason. */
export function unauthorized(): Response {
  return new Response('{"message":"Unauthorized"}', {
    status: 401,
    headers: { 'content-type': 'application/json; charset=utf-8' },
  })
}
