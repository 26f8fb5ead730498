import type { Cause, Causes } from '../../src/contracts/storage/causes.ts'
import type { Connection } from './client.ts'
import { fieldsOf } from './hash.ts'

export function redisCauses(connection: Connection, tag: string): Causes {
  const key = (kind: Cause['kind']): string => `${tag}:causes:${kind}`
  return {
    async add(causes) {
      for (const cause of causes) {
        await connection.send('HSETNX', [key(cause.kind), cause.id, JSON.stringify(cause)], true)
      }
    },

    async list({ kind, after, limit }) {
      const fields = await fieldsOf(connection, key(kind))
      return [...fields]
        .filter(([id]) => after === null || id > after)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .slice(0, limit)
        .map(([, cause]) => JSON.parse(cause) as Cause) // written by `add`, or by the fold
    },

    async remove(causes) {
      for (const { kind, id } of causes) await connection.send('HDEL', [key(kind), id], true)
    },
  }
}
