import type { Attempts } from '../../src/contracts/storage/attempts.ts'
import { minuteMs, startOf } from '../../src/core/periods.ts'
import type { Connection } from './client.ts'
import { fieldsOf } from './hash.ts'
import { sumsOf } from './sums.ts'

type Tally = Awaited<ReturnType<Attempts['tallies']>>[number]

/** The successes and failures per endpoint since the minute in which `since` lies, of workspaces that exist. */
export async function readTallies(connection: Connection, tag: string, since: number): Promise<readonly Tally[]> {
  const sums = new Map<string, { workspaceId: string; endpointId: string; total: number; failed: number }>()
  const add = (workspaceId: string, endpointId: string, total: number, failed: number): void => {
    const key = `${workspaceId} ${endpointId}`
    const sum = sums.get(key) ?? { workspaceId, endpointId, total: 0, failed: 0 }
    sums.set(key, { ...sum, total: sum.total + total, failed: sum.failed + failed })
  }
  const minutes = { workspaceId: null, step: 'minute', from: startOf(since, minuteMs), to: Infinity } as const
  for await (const { workspaceId, endpoint_id, counts } of sumsOf(connection, tag, minutes)) {
    const [succeeded = 0, failed = 0] = counts
    if (succeeded + failed > 0) add(workspaceId, endpoint_id, succeeded + failed, failed)
  }
  for (const { workspaceId, endpointId, total, failed } of await countedBefore(connection, tag, since)) {
    add(workspaceId, endpointId, total, failed)
  }
  return [...sums.values()]
}

/** What the version before counts. */
async function countedBefore(connection: Connection, tag: string, since: number): Promise<readonly Tally[]> {
  const from = Math.floor(since / minuteMs)
  const minutes = await connection.send('ZRANGEBYSCORE', [`${tag}:tallies`, String(from), '+inf'], true)
  const found: Tally[] = []
  for (const minute of minutes as readonly string[]) {
    for (const [field, count] of await fieldsOf(connection, `${tag}:tally:${minute}`)) {
      const [workspaceId, endpointId] = JSON.parse(field.slice(1)) as [string, string] // as that version writes it
      const isTotal = field.startsWith('t')
      found.push({ workspaceId, endpointId, total: isTotal ? Number(count) : 0, failed: isTotal ? 0 : Number(count) })
    }
  }
  const there = new Map<string, boolean>()
  for (const { workspaceId } of found) {
    if (there.has(workspaceId)) continue
    there.set(workspaceId, (await connection.send('EXISTS', [`${tag}:workspaces:${workspaceId}`], true)) === 1)
  }
  return found.filter(({ workspaceId }) => there.get(workspaceId))
}
