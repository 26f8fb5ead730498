import type { Change, Collection } from '../contracts/storage/configuration.ts'
import type { ListQuery } from '../contracts/storage/list.ts'
import type { Storage } from '../contracts/storage.ts'

/**
 * The same storage, which also calls `changed` after each write of configuration: so this process uses the new
 * configuration by the time the write is answered.
 */
export function notifyingStorage(storage: Storage, changed: (change: Change) => void): Storage {
  const tell = async <T>(workspaceId: string, work: Promise<T>): Promise<T> => {
    try {
      return await work
    } finally {
      changed({ workspaceId })
      changed('routes')
    }
  }
  const collection = <Row, Query extends ListQuery>(of: Collection<Row, Query>): Collection<Row, Query> => ({
    insert: (workspaceId, row, bounds) => tell(workspaceId, of.insert(workspaceId, row, bounds)),
    get: (workspaceId, id) => of.get(workspaceId, id),
    list: (workspaceId, query) => of.list(workspaceId, query),
    update: (workspaceId, row, from, bounds) => tell(workspaceId, of.update(workspaceId, row, from, bounds)),
    delete: (workspaceId, id) => tell(workspaceId, of.delete(workspaceId, id)),
  })
  const { workspaces } = storage
  return {
    ...storage,
    workspaces: {
      insert: (row) => workspaces.insert(row),
      get: (id) => workspaces.get(id),
      find: (idOrName) => workspaces.find(idOrName),
      list: (query) => workspaces.list(query),
      update: (row, from) => tell(row.id, workspaces.update(row, from)),
      delete: (id) => tell(id, workspaces.delete(id)),
    },
    endpoints: collection(storage.endpoints),
    sources: collection(storage.sources),
    plugins: collection(storage.plugins),
    applyConfig: (plan, from) => tell(plan.workspaceId, storage.applyConfig(plan, from)),
  }
}
