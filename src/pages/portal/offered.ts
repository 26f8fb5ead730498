import { routes } from '../../http/routes.ts'
import type { Route } from '../../http/route.ts'
import type { PortalAllowances } from './options.ts'

/** Who may call an operation: every session, or those that may write and where the host allows it. */
type Right = 'read' | keyof PortalAllowances

/** The operations that customers are offered, each in their own workspace. */
const rights: Readonly<Record<string, Right>> = {
  'endpoints.list': 'read',
  'endpoints.create': 'create',
  'endpoints.get': 'read',
  'endpoints.patch': 'edit',
  'endpoints.delete': 'delete',
  'endpoints.health': 'read',
  'endpoints.test': 'test',
  'endpoints.secret': 'secret',
  'endpoints.rotateSecret': 'rotate',
  'events.get': 'read',
  'events.replay': 'replay',
  'deliveries.list': 'read',
  'deliveries.get': 'read',
  'deliveries.retry': 'replay',
  'attempts.list': 'read',
  'attempts.get': 'read',
  stats: 'read',
  'eventTypes.list': 'read',
}

export interface Offered {
  readonly route: Route
  readonly right: Right
}

/** The routes of the portal: those of the administrative API below a workspace, which the session names in place of the path. */
export const offered: readonly Offered[] = routes.flatMap((route) => {
  const right = rights[route.operation]
  return right === undefined ? [] : [{ route, right }]
})

export type Found =
  | { readonly kind: 'found'; readonly offered: Offered; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'wrong method'; readonly allow: string }
  | { readonly kind: 'unknown' }

/** The route of a method and a path. */
export function find(method: string, path: string): Found {
  const fitting = offered.flatMap((each) => {
    const params = paramsOf(each.route.path, path)
    return params === null ? [] : [{ offered: each, params }]
  })
  // A path with a word comes before a path with an id in the same place: `/events/replay` is no event.
  const [first] = fitting.toSorted((a, b) => Object.keys(a.params).length - Object.keys(b.params).length)
  if (first === undefined) return { kind: 'unknown' }
  const match = fitting.find((each) => each.offered.route.method === method)
  if (match !== undefined) return { kind: 'found', ...match }
  return { kind: 'wrong method', allow: fitting.map((each) => each.offered.route.method).join(', ') }
}

/** The parameters of a path that has the form of a route; null where the path has another form. */
function paramsOf(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return null
  const params: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    if (!part.startsWith(':')) {
      if (part !== given[i]) return null
      continue
    }
    const value = decoded(given[i]!) // of the same length
    if (value === null || value === '') return null
    params[part.slice(1)] = value
  }
  return params
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
