import type { Change, Collection } from '../contracts/storage/configuration.ts'
import type { ListQuery } from '../contracts/storage/list.ts'
import type { Storage } from '../contracts/storage.ts'

/**
 * The same storage, which also calls `changed` after each write of configuration: so this process uses the new
 * configuration by the time the write is answered.
 */
export function notifyingStorage(storage: Storage, changed: (change: Change) => void): Storage {
  const tell = async <T>(changes: readonly Change[], work: Promise<T>): Promise<T> => {
    try {
      return await work
    } finally {
      for (const change of changes) changed(change)
    }
  }
  const collection = <Row, Query extends ListQuery>(
    of: Collection<Row, Query>,
    changes: (workspaceId: string) => readonly Change[],
  ): Collection<Row, Query> => ({
    insert: (workspaceId, row, bounds) => tell(changes(workspaceId), of.insert(workspaceId, row, bounds)),
    get: (workspaceId, id) => of.get(workspaceId, id),
    list: (workspaceId, query) => of.list(workspaceId, query),
    update: (workspaceId, row, from, bounds) => tell(changes(workspaceId), of.update(workspaceId, row, from, bounds)),
    delete: (workspaceId, id) => tell(changes(workspaceId), of.delete(workspaceId, id)),
  })
  const rows = (workspaceId: string): readonly Change[] => [{ workspaceId }]
  // Routes are made of sources. The table holds those of all workspaces, so what changes no source leaves the table as it is.
  const rowsAndRoutes = (workspaceId: string): readonly Change[] => [{ workspaceId }, 'routes']
  const { workspaces } = storage
  return {
    ...storage,
    workspaces: {
      insert: (row) => workspaces.insert(row),
      get: (id) => workspaces.get(id),
      find: (idOrName) => workspaces.find(idOrName),
      list: (query) => workspaces.list(query),
      update: (row, from) => tell(rowsAndRoutes(row.id), workspaces.update(row, from)),
      delete: (id) => tell(rowsAndRoutes(id), workspaces.delete(id)),
    },
    endpoints: collection(storage.endpoints, rows),
    sources: collection(storage.sources, rowsAndRoutes),
    plugins: collection(storage.plugins, rows),
    applyConfig: (plan, from) => tell(rowsAndRoutes(plan.workspaceId), storage.applyConfig(plan, from)),
  }
}
