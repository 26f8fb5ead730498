import { createHash, timingSafeEqual } from 'node:crypto'

import type { Options } from 'posthorn'

type Authorize = NonNullable<NonNullable<Options['admin']>['authorize']>

/** Lets those through who send `authorization: Bearer <token>`; others are answered 401. */
export function requireToken(token: string): Authorize {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const expected = digest(`Bearer ${token}`)
  return ({ headers }) =>
    // Digests have one length, so that the time of the comparison tells nothing.
    timingSafeEqual(digest(headers.get('authorization') ?? ''), expected) ||
    Response.json(
      { message: 'the token of the administrative API is missing or wrong' },
      { status: 401, headers: { 'www-authenticate': 'Bearer' } },
    )
}
