import type { Counts, Statistics, StatisticsQuery } from '../../src/contracts/storage/statistics.ts'
import type { StatsGroup, StatsStep } from '../../src/schema/stats.ts'
import { addCounts, noCounts, volumeOf } from '../../src/core/counts.ts'
import { dayMs, startOf } from '../../src/core/notes.ts'
import type { Connection } from './client.ts'
import { foldNotes } from './fold.ts'
import { fieldsOf } from './hash.ts'
import { tidySums } from './tidy-sums.ts'

/** A sum of a workspace, as a query finds it. */
interface Found {
  readonly workspaceId: string
  readonly time: number
  readonly endpoint_id: string
  readonly event_type: string
  readonly counts: Counts
}

export function redisStatistics(connection: Connection, tag: string): Statistics {
  return {
    fold: () => foldNotes(connection, tag),

    async sums(query, grouping) {
      const named = new Set(grouping?.names)
      const rows = new Map<string, { time: number; group: string | null; counts: Counts }>()
      for await (const found of sumsOf(connection, tag, query)) {
        const name = grouping === null ? null : groupOf(grouping.by, found)
        const group = name === null || named.has(name) ? name : '*'
        const key = `${found.time} ${group}`
        let row = rows.get(key)
        if (row === undefined) rows.set(key, (row = { time: found.time, group, counts: noCounts() }))
        addCounts(row.counts, found.counts)
      }
      return [...rows.values()]
    },

    async groups(query, by, limit) {
      const volumes = new Map<string, number>()
      for await (const found of sumsOf(connection, tag, query)) {
        const group = groupOf(by, found)
        volumes.set(group, (volumes.get(group) ?? 0) + volumeOf(found.counts))
      }
      const most = [...volumes].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
      return most.slice(0, limit).map(([group]) => group)
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

    tidy: (options) => tidySums(connection, tag, options),
  }
}

/** The sums of each endpoint from a time on, of all workspaces that are there. */
export async function* minutesSince(connection: Connection, tag: string, from: number): AsyncGenerator<Found> {
  yield* sumsOf(connection, tag, { workspaceId: null, step: 'minute', from, to: Infinity })
}

async function* sumsOf(connection: Connection, tag: string, query: StatisticsQuery): AsyncGenerator<Found> {
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

async function allRooms(connection: Connection, tag: string): Promise<readonly string[]> {
  return (await connection.send('ZRANGE', [`${tag}:counted`, '0', '-1'], true)) as readonly string[]
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

function groupOf(by: StatsGroup, { workspaceId, endpoint_id, event_type }: Found): string {
  return by === 'workspace' ? workspaceId : by === 'endpoint' ? endpoint_id : event_type
}
