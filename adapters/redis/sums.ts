import { systemClock } from '../../src/clock.ts'
import type { StatisticsQuery } from '../../src/contracts/storage/statistics.ts'
import type { FoundSum } from '../../src/core/grouped-sums.ts'
import { dayMs, startOf } from '../../src/core/periods.ts'
import { pacer } from '../../src/runtime/slices.ts'
import type { StatsStep } from '../../src/schema/stats.ts'
import type { Connection } from './client.ts'
import { fieldsOf } from './hash.ts'
import { chunks } from './scripts.ts'

/** Commands that go at once, where each alone would take seconds for a thousand workspaces. */
const sideBySide = 16

/** A hash of sums. */
interface Place {
  readonly workspaceId: string
  readonly kind: StatsStep
  /** When the minute, the hour or the day begins, as Redis has it. */
  readonly at: string
  readonly key: string
}

/** The sums that a query asks for, of workspaces that exist. The event loop is held for two milliseconds at a time. */
export async function* sumsOf(connection: Connection, tag: string, query: StatisticsQuery): AsyncGenerator<FoundSum> {
  const pace = pacer(systemClock())
  for await (const { place, fields } of hashesOf(connection, tag, query)) {
    for (const [field, numbers] of fields) {
      const turn = pace()
      if (turn !== undefined) await turn
      const sum = sumOf(place, field, numbers, query)
      if (sum !== null) yield sum
    }
  }
}

/** The hashes in which the sums are. */
async function* hashesOf(connection: Connection, tag: string, query: StatisticsQuery) {
  const read = async (place: Place) => ({ place, fields: await fieldsAt(connection, place, query) })
  for (const some of chunks(await roomsOf(connection, tag, query), sideBySide)) {
    const places = await Promise.all(some.map((room) => placesOf(connection, tag, room, query)))
    for (const few of chunks(places.flat(), sideBySide)) yield* await Promise.all(few.map(read))
  }
}

async function roomsOf(
  connection: Connection,
  tag: string,
  { workspaceId }: StatisticsQuery,
): Promise<readonly string[]> {
  if (workspaceId === null) return await allRooms(connection, tag)
  const room = await roomOf(connection, tag, workspaceId)
  return room === null ? [] : [room]
}

/** Workspaces that were counted, by the names that Redis has for them; some may be deleted. */
export async function allRooms(connection: Connection, tag: string): Promise<readonly string[]> {
  return (await connection.send('ZRANGE', [`${tag}:counted`, '0', '-1'], true)) as readonly string[]
}

export async function roomOf(connection: Connection, tag: string, workspaceId: string): Promise<string | null> {
  return (await connection.send('HGET', [`${tag}:workspaces:${workspaceId}`, 'room'], true)) as string | null
}

/** Where a workspace has sums; nowhere once it was deleted. */
async function placesOf(
  connection: Connection,
  tag: string,
  room: string,
  { workspaceId: asked, step, from, to }: StatisticsQuery,
): Promise<readonly Place[]> {
  const name = `${tag}:room:${room}`
  const workspaceId = asked ?? ((await connection.send('HGET', [name, 'id'], true)) as string | null)
  if (workspaceId === null) return []
  const range = [String(from), to === Infinity ? '+inf' : `(${to}`]
  const places = kindsOf(step).map(async (kind) => {
    const times = (await connection.send('ZRANGEBYSCORE', [`${name}:${kind}s`, ...range], true)) as readonly string[]
    return times.map((at) => ({ workspaceId, kind, at, key: `${name}:${kind}:${at}` }))
  })
  return (await Promise.all(places)).flat()
}

function kindsOf(step: StatsStep): readonly StatsStep[] {
  return step === 'day' ? ['hour', 'day'] : [step]
}

async function fieldsAt(
  connection: Connection,
  { kind, key }: Place,
  { endpoint_id }: StatisticsQuery,
): Promise<ReadonlyMap<string, string>> {
  if (kind !== 'minute' || endpoint_id === undefined) return await fieldsOf(connection, key)
  const numbers = (await connection.send('HGET', [key, endpoint_id], true)) as string | null
  return new Map(numbers === null ? [] : [[endpoint_id, numbers]])
}

/** A field as a sum; null for an endpoint or a type that was not asked for. */
function sumOf(
  { workspaceId, kind, at }: Place,
  field: string,
  numbers: string,
  { step, endpoint_id, event_type }: StatisticsQuery,
): FoundSum | null {
  // Of a minute the field is the endpoint, of others endpoint and type: see keys.ts.
  const [endpoint, type] = kind === 'minute' ? [field, ''] : (JSON.parse(field) as [string, string])
  if (endpoint_id !== undefined && endpoint !== endpoint_id) return null
  if (event_type !== undefined && type !== event_type) return null
  const time = step === 'day' ? startOf(Number(at), dayMs) : Number(at)
  return { workspaceId, time, endpoint_id: endpoint, event_type: type, counts: numbers.split(',').map(Number) }
}
