import type { Statistics } from '../../src/contracts/storage/statistics.ts'
import { GroupedSums, GroupVolumes } from '../../src/core/grouped-sums.ts'
import type { Connection } from './client.ts'
import { fillLists } from './fill-lists.ts'
import { foldNotes } from './fold.ts'
import { roomOf, sumsOf } from './sums.ts'
import { tidySums } from './tidy-sums.ts'
import { timeOf } from './time.ts'

export function redisStatistics(connection: Connection, tag: string): Statistics {
  return {
    fold: () => foldNotes(connection, tag),

    async sums(query, grouping) {
      const sums = new GroupedSums(grouping)
      for await (const found of sumsOf(connection, tag, query)) sums.add(found)
      return sums.rows()
    },

    async groups(query, by, limit) {
      const volumes = new GroupVolumes(by)
      for await (const found of sumsOf(connection, tag, query)) volumes.add(found)
      return volumes.largest(limit)
    },

    async streak(workspaceId, endpointId) {
      const room = await roomOf(connection, tag, workspaceId)
      const kept = room && (await connection.send('HGET', [`${tag}:room:${room}:streaks`, endpointId], true))
      if (typeof kept !== 'string') return null
      const [succeeded, failed, failures, exhausted, attempt = ''] = kept.split(',')
      const time = (text: string | undefined): number | null => (text ? Number(text) : null)
      return {
        succeeded_at: time(succeeded),
        failed_at: time(failed),
        attempt_id: attempt || null,
        failures: Number(failures),
        exhausted: Number(exhausted),
      }
    },

    async tidy(options) {
      const gone = await tidySums(connection, tag, options)
      // What is done each minute, in steps until nothing is left.
      return gone + (await fillLists(connection, tag, await timeOf(connection)))
    },
  }
}
