import type { Process, Processes } from '../../src/contracts/storage/processes.ts'
import type { Connection } from './client.ts'
import { fieldsOf } from './hash.ts'

export function redisProcesses(connection: Connection, tag: string): Processes {
  const key = `${tag}:processes`
  const all = async (): Promise<readonly Process[]> =>
    [...(await fieldsOf(connection, key)).values()].map((text) => JSON.parse(text) as Process) // written by `seen`
  return {
    async seen(process, before) {
      await connection.send('HSET', [key, process.id, JSON.stringify(process)], true)
      for (const { id, seen_at } of await all()) {
        if (seen_at < before) await connection.send('HDEL', [key, id], true)
      }
    },
    async list(since) {
      const seen = (await all()).filter(({ seen_at }) => seen_at >= since)
      return seen.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, 1000)
    },
  }
}
