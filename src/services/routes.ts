import { LRUCache } from 'lru-cache'

import type { Clock } from '../contracts/clock.ts'
import type { Route, RouteKey } from '../contracts/storage/configuration.ts'
import type { Storage } from '../contracts/storage.ts'
import { batcher } from '../runtime/batcher.ts'

/** How long a path that nobody serves is not asked for again. */
const unknownForMs = 1000
/** The most characters of the paths that are kept. Without a `max` a cache takes memory as it is filled. */
const maxSize = 8 * 1024 * 1024
/** What a route takes beside its path: so 50,000 are kept at most. */
const ownSize = 160

interface Needs {
  readonly storage: Pick<Storage, 'routes'>
  readonly clock: Clock
  /** Whether requests may share a read. */
  readonly batches: boolean
}

/**
 * The sources that serve requests. Each path is looked up when a request asks for it: what other tenants have and write costs
 * nothing here.
 */
export interface RouteTable {
  /** The route as it was seen last, which the configuration of its workspace may know better. */
  find(path: string, method: string): Promise<Route | null>
  /** The route as it is now. */
  fresh(path: string, method: string): Promise<Route | null>
  /** Says that routes were added: paths that nobody served are looked up again. */
  forget(): void
}

export function routeTable({ storage, clock, batches }: Needs): RouteTable {
  const known = new LRUCache<string, Route>({ maxSize, sizeCalculation: sizeOf })
  /** When a path that nobody serves was looked up. */
  const unknown = new LRUCache<string, { readonly at: number }>({ maxSize, sizeCalculation: sizeOf })
  /** Raised by `forget`: that a path was unknown before then is not kept. */
  let epoch = 0
  const reads = batcher<RouteKey, Route | null>({
    flush: (keys) => storage.routes(keys),
    bytesOf: ({ path }) => path.length,
    workspaceOf: () => '', // which one is the question
    clock,
    batches,
  })

  async function fresh(path: string, method: string): Promise<Route | null> {
    const began = { at: clock.now(), epoch }
    const route = await reads.add({ path, method })
    const key = keyOf(path, method)
    if (route !== null) known.set(key, route)
    else {
      known.delete(key)
      if (began.epoch === epoch) unknown.set(key, { at: began.at })
    }
    return route
  }

  return {
    async find(path, method) {
      const key = keyOf(path, method)
      const route = known.get(key)
      if (route !== undefined) return route
      // A path that does not exist may be new, made by another process; but unknown paths may not become a load on storage.
      const looked = unknown.get(key)
      if (looked !== undefined && clock.now() - looked.at < unknownForMs) return null
      return await fresh(path, method)
    },
    fresh,
    forget() {
      epoch++
      unknown.clear()
    },
  }
}

function keyOf(path: string, method: string): string {
  return `${method} ${path}`
}

function sizeOf(_kept: unknown, key: string): number {
  return ownSize + key.length
}
