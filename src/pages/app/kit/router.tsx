import { computed, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

import { settings } from './settings.ts'

const { basePath } = settings

function current(): { path: string; search: string } {
  const { pathname, search } = location
  const path = pathname.startsWith(basePath) ? pathname.slice(basePath.length) : '/'
  return { path: path === '' ? '/' : path, search }
}

/** Where the page is: the path behind the mount, and the query. */
export const place = signal(current())
export const parameters = computed(() => new URLSearchParams(place.value.search))

addEventListener('popstate', () => (place.value = current()))

/** Goes to a path behind the mount. `replace`: the place before is not in the history. */
export function go(path: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', `${basePath}${path}`)
  else history.pushState(null, '', `${basePath}${path}`)
  const before = place.value.path
  place.value = current()
  if (place.value.path === before) return
  scrollTo(0, 0)
  // A screen reader reads the new view from the heading on.
  requestAnimationFrame(() => document.querySelector<HTMLElement>('main h1')?.focus())
}

/** Writes parameters into the query; empty parameters go, and with any of them the page of the list. */
export function setParameters(changes: Readonly<Record<string, string | null>>): void {
  const search = new URLSearchParams(place.value.search)
  search.delete('after')
  search.delete('before')
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') search.delete(name)
    else search.set(name, value)
  }
  const text = search.toString()
  go(`${place.value.path}${text === '' ? '' : `?${text}`}`, { replace: true })
}

interface LinkProps {
  readonly to: string
  readonly class?: string
  readonly 'aria-current'?: 'page'
  readonly children: ComponentChildren
}

/** A link inside the page. */
export function Link({ to, children, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={`${basePath}${to}`}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0) return
        event.preventDefault()
        go(to)
      }}
    >
      {children}
    </a>
  )
}

/** The parts of the path that a pattern such as `/w/:ws/endpoints/:id` names; null where the path has another form. */
export function match(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const wanted = pattern.split('/')
  const given = path.replace(/(.)\/$/, '$1').split('/')
  if (wanted.length !== given.length) return null
  const found: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    const value = given[i]!
    if (part.startsWith(':')) found[part.slice(1)] = decoded(value)
    else if (part !== value) return null
  }
  return found
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
