import type { Posthorn } from '../../surface/posthorn.ts'
import type { Plan, SimulatedProcess, World } from './process.ts'

const slowMs = 5000
const slowEndpoints = 4
const slowEvents = 5
const quickEvents = 4
const quickEveryMs = 1500
/** A delivery of another workspace starts within this time, however many of the crowd are due. */
const patienceMs = 1000

const slow = 'crowd'
const quick = 'quick'

/** Slow endpoints of a workspace, and an endpoint of another workspace that answers at once. */
export const crowd = {
  async make(posthorn: Posthorn, [first, second]: readonly string[]): Promise<void> {
    const endpoint = (workspace: string, id: string, event: string) =>
      posthorn.endpoints.create(workspace, {
        id,
        request: { url: `http://${id}.test/`, headers: { 'x-endpoint': id }, timeout: 30_000 },
        events: [event],
        retry: { config: { attempts: [0] } },
      })
    for (let n = 0; n < slowEndpoints; n++) await endpoint(first!, `${slow}${n}`, slow)
    await endpoint(second!, quick, quick)
  },

  planOf(endpointId: string): Plan | null {
    if (endpointId === quick) return { status: 200, afterMs: 10, retryAfterSeconds: null }
    return endpointId.startsWith(slow) ? { status: 200, afterMs: slowMs, retryAfterSeconds: null } : null
  },
}

/**
 * A process in which every endpoint has answered before gets more slow deliveries of one workspace than it has slots.
 * Answers which deliveries of another workspace had to wait for the slow deliveries.
 */
export async function unfairness(world: World, begin: () => SimulatedProcess): Promise<string[]> {
  const { clock, sends } = world
  const process = begin()
  const { posthorn } = process
  const publish = async (workspace: string, event_type: string): Promise<void> => {
    const published = posthorn.events.create(workspace, { event_type, data: {} })
    await clock.advance(0)
    await published
  }
  const starting = posthorn.start()
  await clock.advance(0)
  await starting
  await publish('default', slow)
  await publish('second', quick)
  await clock.advance(3 * slowMs)

  for (let n = 0; n < slowEvents; n++) await publish('default', slow)
  await clock.advance(100)
  const unfair: string[] = []
  for (let n = 0; n < quickEvents; n++) {
    const at = clock.now()
    const before = sends.length
    await publish('second', quick)
    await clock.advance(quickEveryMs)
    const sent = sends.slice(before).find(({ endpointId }) => endpointId === quick)
    const waitedMs = sent === undefined ? Infinity : sent.startedAt - at
    if (waitedMs > patienceMs) unfair.push(`unfair: a delivery of another workspace waited ${waitedMs} ms`)
  }
  process.kill()
  return unfair
}
