/** The cursors of the next page and of the page before; null where no such page exists. */
interface Cursors {
  readonly next: string | null
  readonly prev: string | null
}

/**
 * The addresses of the pages beside a page: the path and all parameters of this page, but in place of its cursors
 * `after` with the next cursor, or `before` with the previous cursor. Keys are sorted and form-encoded.
 *
 * @example pageLinks('/endpoints', new URLSearchParams('limit=2'), { next: 'b', prev: null }).next // '/endpoints?after=b&limit=2'
 */
export function pageLinks(
  path: string,
  parameters: Iterable<readonly [name: string, value: string]>,
  { next, prev }: Cursors,
): Cursors {
  const others = [...parameters].filter(([name]) => name !== 'after' && name !== 'before')
  const address = (parameter: 'after' | 'before', cursor: string) => {
    const search = new URLSearchParams([...others.map(([name, value]) => [name, value]), [parameter, cursor]])
    search.sort()
    return `${path}?${search.toString()}`
  }
  return {
    next: next === null ? null : address('after', next),
    prev: prev === null ? null : address('before', prev),
  }
}
