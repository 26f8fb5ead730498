import type { Bounds, ConfigPlan } from '../contracts/storage/configuration.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import type { Plugin } from '../schema/plugin.ts'
import type { Source } from '../schema/source.ts'

/** The kinds of configuration rows, and the type of a row of each kind. */
export interface Rows {
  endpoints: Endpoint
  sources: Source
  plugins: Plugin
}
export type Kind = keyof Rows
export const kinds = ['endpoints', 'sources', 'plugins'] as const satisfies readonly Kind[]

/** A plan that writes rows of a kind or removes them, and nothing else. */
export function planFor<K extends Kind>(
  workspaceId: string,
  kind: K,
  put: readonly Rows[K][],
  remove: readonly string[],
  bounds?: Bounds,
): ConfigPlan {
  const nothing = { put: [], remove: [] }
  return { workspaceId, endpoints: nothing, sources: nothing, plugins: nothing, [kind]: { put, remove }, bounds }
}
