import { setTimeout as sleep } from 'node:timers/promises'

import { redis } from '../../adapters/redis/index.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import * as rows from '../../src/testing/storage/rows.ts'
import { clients, startRedis } from '../support/redis.ts'
import { losableDisk } from './losable-disk.ts'
import { until } from './report.ts'

export interface Loss {
  readonly appendfsync: string
  readonly end: 'kill -9' | 'power cut'
  /** Events whose publisher was told that they are stored. */
  readonly acknowledged: number
  readonly lost: number
  /** From the acknowledgement of the oldest lost event to the end. */
  readonly windowMs: number
}

/** Fills a Redis for a while, ends it in the middle of that, and looks what is left. Null where no disk can lose anything. */
export async function lostAt(
  end: Loss['end'],
  { appendfsync, loadMs }: { appendfsync: 'always' | 'everysec'; loadMs: number },
): Promise<Loss | null> {
  const disk = end === 'power cut' ? losableDisk() : undefined
  if (disk === null) return null
  const server = await startRedis({ appendonly: 'yes', appendfsync, ...(disk !== undefined && { dir: disk.folder }) })
  const { client, close } = await clients[0]!.open(server.url)
  const storage = redis(client)
  const revision = await rows.made(storage, 'w')
  await sleep(2500) // the workspace is older than any window

  const toldAt = new Map<string, number>()
  let ending = false
  let next = 0
  const fill = async (): Promise<void> => {
    while (!ending) {
      const id = `ev${next++}`
      const entry = rows.entry('w', revision, rows.event(id), [rows.attempt(`at-${id}`, id)])
      try {
        await storage.events.ingest([entry], { enqueue: true })
        toldAt.set(id, Date.now())
      } catch {
        return
      }
    }
  }
  const filling = Promise.all(Array.from({ length: 32 }, fill))
  await sleep(loadMs)
  const endedAt = Date.now()
  await server.kill()
  ending = true
  await filling
  disk?.cut()
  await server.start()
  await until('the server answers', 30_000, () => isUp(storage))

  let lost = 0
  let oldest = endedAt
  for (const [id, at] of toldAt) {
    const whole =
      (await storage.events.get('w', id)) !== null && (await storage.attempts.load([`at-${id}`])).length === 1
    if (whole) continue
    lost++
    oldest = Math.min(oldest, at)
  }
  close()
  await server.stop()
  disk?.remove()
  return { appendfsync, end, acknowledged: toldAt.size, lost, windowMs: endedAt - oldest }
}

const isUp = (storage: Storage) =>
  storage.ping().then(
    () => true,
    () => false,
  )
