import { PosthornError } from '../errors.ts'
import { lazy } from '../runtime/lazy.ts'

/** Most processes never need a sentence. */
const sentences = lazy(() => import('../core/sentence.ts'))

type Call = (...args: never[]) => Promise<unknown>

/**
 * The same functions, whose errors say in a sentence what was asked, what is wrong and what to do. `body` of such an error
 * is what HTTP answers. Functions stand in groups, `{ endpoints: { create } }`, or
 * alone.
 */
export function withSentences<Functions extends object>(functions: Functions): Functions {
  const spoken = ([group, calls]: [string, object]) => {
    if (typeof calls === 'function') return [group, told(group, calls as Call)]
    const entries = Object.entries(calls as Readonly<Record<string, Call>>).map(([name, call]) => [
      name,
      told(`${group}.${name}`, call),
    ])
    return [group, Object.fromEntries(entries)]
  }
  return Object.fromEntries(Object.entries(functions).map(spoken)) as Functions // name by name
}

function told(operation: string, call: Call): Call {
  return async (...args) => {
    try {
      return await call(...args)
    } catch (cause) {
      if (!(cause instanceof PosthornError)) throw cause
      const { sentence, idsOf } = await sentences()
      throw cause.retold(sentence(operation, args, cause), idsOf(operation, args))
    }
  }
}
