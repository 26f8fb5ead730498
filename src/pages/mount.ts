import { PosthornError } from '../errors.ts'

/** @throws PosthornError `validation` where a path prefix is none. */
export function checkedBase(basePath: string, caller: string): string {
  if (basePath === '' || /^\/[A-Za-z0-9\-._~/]*[^/]$/.test(basePath)) return basePath
  throw new PosthornError(
    'validation',
    `${caller}: basePath: value must start with "/", not end with it, and hold letters, digits, "-", ".", "_", "~" and "/"`,
  )
}

/** The path of a request behind a prefix; null where the path lies outside. */
export function pathBehind(url: URL, basePath: string): string | null {
  if (url.pathname === basePath) return '/'
  return url.pathname.startsWith(`${basePath}/`) ? url.pathname.slice(basePath.length) : null
}
