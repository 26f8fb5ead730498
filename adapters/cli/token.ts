import { createHash, timingSafeEqual } from 'node:crypto'

import type { Options } from 'posthorn'

type Authorize = NonNullable<NonNullable<Options['admin']>['authorize']>

/** The same for a page: browsers ask for the token as a password, with any name. */
export function requireSignIn(token: string): Authorize {
  const expected = createHash('sha256').update(token).digest()
  return ({ headers }) => {
    const [, credentials = ''] = /^Basic (\S+)$/i.exec(headers.get('authorization') ?? '') ?? []
    const text = Buffer.from(credentials, 'base64').toString()
    const given = createHash('sha256')
      .update(text.slice(text.indexOf(':') + 1))
      .digest()
    return (
      timingSafeEqual(given, expected) ||
      new Response('The token of the administrative API is the password.', {
        status: 401,
        headers: { 'www-authenticate': 'Basic realm="Posthorn", charset="UTF-8"' },
      })
    )
  }
}

/** Lets those through who send `authorization: Bearer <token>`; others are answered 401. */
export function requireToken(token: string): Authorize {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const expected = digest(`Bearer ${token}`)
  return ({ headers }) =>
    // Digests have the same length, so that the time of the comparison tells nothing.
    timingSafeEqual(digest(headers.get('authorization') ?? ''), expected) ||
    Response.json(
      { message: 'the token of the administrative API is missing or wrong' },
      { status: 401, headers: { 'www-authenticate': 'Bearer' } },
    )
}
