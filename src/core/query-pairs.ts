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
