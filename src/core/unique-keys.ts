import type { Plugin } from '../schema/plugin.ts'
import type { Source } from '../schema/source.ts'
import type { Kind, Rows } from './row-plan.ts'

/** A unique key, as messages show it: `{ ws_id, name }`, `{ endpoint_id, name }`, `{ source_id, name }`, `{ method, path }`. */
export type Key = Readonly<Record<string, string>>

/** The unique keys that a row holds, its id aside. Sources that are not enabled hold no route. */
export function keysOf<K extends Kind>(workspaceId: string, kind: K, row: Rows[K]): Key[] {
  if (kind === 'plugins') {
    const { name, endpoint_id, source_id } = row as Plugin // the kind says so
    return [
      ...(endpoint_id === null ? [] : [{ endpoint_id, name }]),
      ...(source_id === null ? [] : [{ source_id, name }]),
    ]
  }
  const keys: Key[] = row.name === null ? [] : [{ ws_id: workspaceId, name: row.name }]
  if (kind === 'sources') keys.push(...routesOf(row as Source)) // the kind says so
  return keys
}

/** The routes that a source holds: each method once. */
export function routesOf({ enabled, config }: Source): { method: string; path: string }[] {
  return enabled ? [...new Set(config.http.methods)].map((method) => ({ method, path: config.http.path })) : []
}

/** The text by which keys are compared. */
export function keyText(kind: Kind, key: Key): string {
  const names = Object.keys(key).toSorted()
  return JSON.stringify([kind, ...names.flatMap((name) => [name, key[name]])])
}
