import type { ServiceFunctions } from '../surface/functions.ts'
import type { Call } from './functions-of.ts'
import { operations } from './table.ts'

/** Rows that are read at once where the query does not say how many. */
const pageSize = 100

type Page = { readonly data: readonly unknown[]; readonly next?: string | null }
type Without<Functions> = { readonly [Noun in keyof Functions]: Omit<Functions[Noun], 'each'> }

/** The same functions, and `each` beside every `list`: all rows of the list, read page by page while they are taken. */
export function withEach(functions: Without<ServiceFunctions>): ServiceFunctions {
  const nouns: Record<string, object> = { ...functions }
  for (const [name, { list, http }] of Object.entries(operations)) {
    if (!list) continue
    const noun = name.slice(0, name.indexOf('.'))
    const { list: read } = nouns[noun] as { readonly list: Call } // every noun has its list
    const inWorkspace = http.includes('{P}')
    const each = (...args: unknown[]) => {
      const place = inWorkspace ? [args[0]] : []
      return rowsOf((query) => read(...place, query) as Promise<Page>, args[place.length] ?? {})
    }
    nouns[noun] = { ...nouns[noun], each }
  }
  return nouns as object as ServiceFunctions // each list has got its `each`
}

async function* rowsOf(read: (query: object) => Promise<Page>, query: object): AsyncGenerator {
  let page = await read({ limit: pageSize, ...query })
  yield* page.data
  while (page.next) {
    page = await read({ limit: pageSize, ...query, after: page.next })
    yield* page.data
  }
}
