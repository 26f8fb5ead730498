import type { Statistics, StatisticsQuery } from '../../src/contracts/storage/statistics.ts'
import type { StatsStep } from '../../src/schema/stats.ts'
import { type FoundSum, GroupedSums, GroupVolumes } from '../../src/core/grouped-sums.ts'
import { dayMs, startOf } from '../../src/core/periods.ts'
import type { Connection } from './client.ts'
import { foldNotes } from './fold.ts'
import { fieldsOf } from './hash.ts'
import { fillLists } from './fill-lists.ts'
import { timeOf } from './time.ts'
import { allRooms, tidySums } from './tidy-sums.ts'

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

/** The sums of each endpoint from a time on, of all workspaces that exist. */
export async function* minutesSince(connection: Connection, tag: string, from: number): AsyncGenerator<FoundSum> {
  yield* sumsOf(connection, tag, { workspaceId: null, step: 'minute', from, to: Infinity })
}

async function* sumsOf(connection: Connection, tag: string, query: StatisticsQuery): AsyncGenerator<FoundSum> {
  const { workspaceId, step, from, to, endpoint_id, event_type } = query
  const rooms = workspaceId === null ? await allRooms(connection, tag) : [await roomOf(connection, tag, workspaceId)]
  for (const room of rooms) {
    const name = workspaceId ?? (await nameOf(connection, tag, room))
    if (room === null || name === null) continue
    for (const kind of kindsOf(step)) {
      for (const at of await timesOf(connection, `${tag}:room:${room}:${kind}s`, from, to)) {
        for (const [field, numbers] of await fieldsOf(connection, `${tag}:room:${room}:${kind}:${at}`)) {
          // Of a minute the field is the endpoint, of others endpoint and type: see keys.ts.
          const [endpoint, type] = kind === 'minute' ? [field, ''] : (JSON.parse(field) as [string, string])
          if (endpoint_id !== undefined && endpoint !== endpoint_id) continue
          if (event_type !== undefined && type !== event_type) continue
          const time = step === 'day' ? startOf(Number(at), dayMs) : Number(at)
          const counts = numbers.split(',').map(Number)
          yield { workspaceId: name, time, endpoint_id: endpoint, event_type: type, counts }
        }
      }
    }
  }
}

function kindsOf(step: StatsStep): readonly StatsStep[] {
  return step === 'day' ? ['hour', 'day'] : [step]
}

async function roomOf(connection: Connection, tag: string, workspaceId: string): Promise<string | null> {
  return (await connection.send('HGET', [`${tag}:workspaces:${workspaceId}`, 'room'], true)) as string | null
}

/** The id of the workspace; null when it was deleted. */
async function nameOf(connection: Connection, tag: string, room: string | null): Promise<string | null> {
  return (await connection.send('HGET', [`${tag}:room:${room}`, 'id'], true)) as string | null
}

async function timesOf(connection: Connection, key: string, from: number, to: number): Promise<readonly string[]> {
  const end = to === Infinity ? '+inf' : `(${to}`
  return (await connection.send('ZRANGEBYSCORE', [key, String(from), end], true)) as readonly string[]
}
