import type { Clock } from '../contracts/clock.ts'
import type { Route } from '../contracts/storage/configuration.ts'
import type { Storage } from '../contracts/storage.ts'

const reloadEveryMs = 1000

/** The gateway's table of sources: a snapshot, read again after `forget`, or when a path is not in it. */
export interface RouteTable {
  find(path: string, method: string): Promise<Route | undefined>
  forget(): void
}

export function routeTable(storage: Storage, clock: Clock): RouteTable {
  let table: Table | null = null
  let loading: Promise<Table> | null = null
  let loadedAt = -Infinity
  /** Raised by `forget`: the answer of a load that began before then is thrown away. */
  let epoch = 0

  async function load(): Promise<Table> {
    const began = { at: clock.now(), epoch }
    const { routes } = await storage.routes()
    const byPath = new Map<string, Route[]>()
    for (const route of routes) {
      const same = byPath.get(route.path)
      if (same === undefined) byPath.set(route.path, [route])
      else same.push(route)
    }
    if (began.epoch === epoch) {
      table = byPath
      loadedAt = began.at
    }
    return byPath
  }

  function shared(): Promise<Table> {
    const current = (loading ??= load().finally(() => {
      if (loading === current) loading = null
    }))
    return current
  }

  return {
    async find(path, method) {
      const known = table === null ? undefined : look(table, path, method)
      if (known !== undefined) return known
      // A path that does not exist may be new, made by another process; but unknown paths may not become a load on storage.
      if (table !== null && clock.now() - loadedAt < reloadEveryMs) return undefined
      return look(await shared(), path, method)
    },
    forget() {
      epoch++
      table = null
      loading = null
    },
  }
}

type Table = ReadonlyMap<string, readonly Route[]>

function look(table: Table, path: string, method: string): Route | undefined {
  return table.get(path)?.find(({ methods }) => methods.includes(method))
}
