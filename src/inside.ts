import type { Context } from './context.ts'
import { PosthornError } from './errors.ts'
import type { Services } from './services/use-cases.ts'

/** What the pages need of an instance beside the public functions. */
export interface Inside {
  readonly ctx: Context
  readonly services: Services
}

/** Where an instance holds it. The entries of the package are files of their own, so that a private name would not reach them. */
export const inside: unique symbol = Symbol.for('posthorn.inside')

/** @throws PosthornError `validation` for what `createPosthorn` did not make. */
export function insideOf(posthorn: object, caller: string): Inside {
  const { [inside]: found } = posthorn as { readonly [inside]?: Inside }
  if (found !== undefined) return found
  throw new PosthornError('validation', `${caller}: the first argument must be what createPosthorn answers`)
}
