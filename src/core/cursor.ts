/** Where a page of rows stands among all rows of the same filters. */
export interface Place {
  readonly first: string | undefined
  readonly last: string | undefined
  readonly preceded: boolean
  readonly followed: boolean
}

/**
 * The addresses of the pages beside a page: the path and all parameters of its own, with `after` the last row (next)
 * or `before` the first (prev) in place of both cursors. Keys are sorted and form-encoded.
 */
export function neighbours(
  path: string,
  parameters: Iterable<readonly [name: string, value: string]>,
  { first, last, preceded, followed }: Place,
): { readonly next: string | null; readonly prev: string | null } {
  const kept = [...parameters].filter(([name]) => name !== 'after' && name !== 'before')
  const address = (cursor: 'after' | 'before', id: string) => {
    const search = new URLSearchParams([...kept.map(([name, value]) => [name, value]), [cursor, id]])
    search.sort()
    return `${path}?${search.toString()}`
  }
  return {
    next: followed && last !== undefined ? address('after', last) : null,
    prev: preceded && first !== undefined ? address('before', first) : null,
  }
}

/** The parameters of a list as a query string has them: `x[gt]=1` for `{ x: { gt: 1 } }`. What is undefined is left out. */
export function queryPairs(query: object): [string, string][] {
  return Object.entries(query).flatMap(([name, value]: [string, string | number | boolean | object | undefined]) => {
    if (value === undefined) return []
    if (typeof value !== 'object') return [[name, String(value)]]
    return Object.entries(value).map(([key, item]): [string, string] => [
      key === 'eq' ? name : `${name}[${key}]`,
      String(item),
    ])
  })
}
