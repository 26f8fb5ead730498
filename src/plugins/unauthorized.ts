/** The answer of every plugin that guards a source, the same for every refusal: it says nothing of the reason. */
export function unauthorized(): Response {
  return new Response('{"message":"Unauthorized"}', {
    status: 401,
    headers: { 'content-type': 'application/json; charset=utf-8' },
  })
}
