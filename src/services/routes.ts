import type { Clock } from '../contracts/clock.ts'
import type { Route, Storage } from '../contracts/storage.ts'

const reloadEveryMs = 1000

/** The gateway's table of sources: one snapshot, read again when told so, or when a path is not in it. */
export interface RouteTable {
  find(path: string, method: string): Promise<Route | undefined>
  forget(): void
}

export function routeTable(storage: Storage, clock: Clock): RouteTable {
  let table: ReadonlyMap<string, readonly Route[]> | null = null
  let loading: Promise<ReadonlyMap<string, readonly Route[]>> | null = null
  let loadedAt = -Infinity

  async function load() {
    const startedAt = clock.now()
    const { routes } = await storage.routes()
    const byPath = new Map<string, Route[]>()
    for (const route of routes) {
      const same = byPath.get(route.path)
      if (same === undefined) byPath.set(route.path, [route])
      else same.push(route)
    }
    loadedAt = startedAt
    return (table = byPath)
  }

  const look = (routes: ReadonlyMap<string, readonly Route[]>, path: string, method: string) =>
    routes.get(path)?.find(({ methods }) => methods.includes(method))

  return {
    async find(path, method) {
      const known = table === null ? undefined : look(table, path, method)
      if (known !== undefined) return known
      // A path that is not there may be new, made by another process; but unknown paths may not become a load on storage.
      if (table !== null && clock.now() - loadedAt < reloadEveryMs) return undefined
      loading ??= load().finally(() => (loading = null))
      return look(await loading, path, method)
    },
    forget() {
      table = null
    },
  }
}
