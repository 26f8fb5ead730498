import type { CompiledConfiguration, Context } from '../context.ts'
import type { Route } from '../contracts/storage/configuration.ts'
import type { Tenant } from '../core/tenants.ts'
import type { Source } from '../schema/source.ts'
import type { RouteTable } from '../services/routes.ts'

/** A source that serves a path, in the configuration of its workspace. */
export interface Found {
  readonly configuration: CompiledConfiguration
  readonly source: Source
  readonly path: string
}

/** Finds the enabled source that serves a method on a path. */
export async function findSource(
  ctx: Context,
  routes: RouteTable,
  path: string,
  method: string,
): Promise<Found | undefined> {
  // What is known of the route may be older than the configuration: the path may be another source's by now.
  for (const find of [routes.find, routes.fresh]) {
    const route = await find(path, method)
    if (route === null) return undefined
    const found = await sourceOf(ctx, route, path, method)
    if (found) return found
  }
  return undefined
}

/** The source of a route as it is configured now. The configuration that this process knows may be older than the route. */
async function sourceOf(ctx: Context, route: Route, path: string, method: string): Promise<Found | undefined> {
  for (const read of [ctx.configuration.get, ctx.configuration.fresh]) {
    const configuration = await read(route.workspaceId)
    const found = configuration && servedBy(configuration, route.sourceId, path, method)
    if (found) return found
  }
  return undefined
}

/** The source, if it still serves the method on the path. */
export function servedBy(
  configuration: CompiledConfiguration,
  sourceId: string,
  path: string,
  method: string,
): Found | undefined {
  const source = configuration.sources.get(sourceId)
  if (source === undefined || !source.enabled) return undefined
  const { http } = source.config
  const serves = http.path === path && http.methods.some((each) => each === method)
  return serves ? { configuration, source, path } : undefined
}

export function tenantOf({ configuration, source }: Found): Tenant {
  return { workspace: configuration.workspace.id, owner: source.id }
}
