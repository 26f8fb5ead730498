import type { Attempts } from '../../src/contracts/storage/attempts.ts'
import type { Connection } from './client.ts'

type Tally = Awaited<ReturnType<Attempts['tallies']>>[number]
const minuteMs = 60_000

/** The sums per endpoint since the minute in which `since` lies, of workspaces that are there. */
export async function readTallies(connection: Connection, tag: string, since: number): Promise<readonly Tally[]> {
  const from = Math.floor(since / minuteMs)
  const minutes = await connection.send('ZRANGEBYSCORE', [`${tag}:tallies`, String(from), '+inf'], true)
  const sums = new Map<string, { total: number; failed: number }>()
  for (const minute of minutes as readonly string[]) {
    // members are written as text
    for (const [field, count] of await fieldsOf(connection, `${tag}:tally:${minute}`)) {
      const of = field.slice(1)
      const sum = sums.get(of) ?? { total: 0, failed: 0 }
      if (field.startsWith('t')) sum.total += Number(count)
      else sum.failed += Number(count)
      sums.set(of, sum)
    }
  }
  const tallies = [...sums].map(([of, sum]) => {
    const [workspaceId, endpointId] = JSON.parse(of) as [string, string] // written by settle
    return { workspaceId, endpointId, ...sum }
  })
  const there = new Map<string, boolean>()
  for (const { workspaceId } of tallies) {
    if (there.has(workspaceId)) continue
    there.set(workspaceId, (await connection.send('EXISTS', [`${tag}:workspaces:${workspaceId}`], true)) === 1)
  }
  return tallies.filter(({ workspaceId }) => there.get(workspaceId))
}

/** All fields of a hash, a bounded part at a time. One that was read twice counts once. */
async function fieldsOf(connection: Connection, key: string): Promise<ReadonlyMap<string, string>> {
  const fields = new Map<string, string>()
  let cursor = '0'
  do {
    const reply = await connection.send('HSCAN', [key, cursor, 'COUNT', '500'], true)
    const [next, flat] = reply as [string, string[]] // the same in both protocols
    for (let i = 0; i < flat.length; i += 2) fields.set(flat[i]!, flat[i + 1]!)
    cursor = next
  } while (cursor !== '0')
  return fields
}
