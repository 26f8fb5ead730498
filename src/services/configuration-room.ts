import { LRUCache } from 'lru-cache'

import type { ConfigurationCache, ConfigurationRoom } from '../context.ts'
import { PosthornError } from '../errors.ts'
import { singleFlight } from '../runtime/single-flight.ts'

/** A process counts what it writes itself, and reads the whole again when that comes to this part of what is allowed. */
const uncountedPart = 1 / 8

/** How long the configuration of a workspace is, in bytes of JSON. */
interface Length {
  /** As it was read last. */
  read: number
  /** What this process has written since, and what it is writing. */
  written: number
  pending: number
}

export function configurationRoom(configuration: Pick<ConfigurationCache, 'fresh'>, max: number): ConfigurationRoom {
  /** By workspace. One that was forgotten has a new eighth before it is read. */
  const lengths = new LRUCache<string, Length>({ max: 10_000 })
  const reads = singleFlight(async (workspaceId) => {
    const length = lengthOf(workspaceId)
    const before = length.written
    length.read = (await configuration.fresh(workspaceId))?.bytes ?? 0
    length.written -= before
  })

  function lengthOf(workspaceId: string): Length {
    const length = lengths.get(workspaceId) ?? { read: 0, written: 0, pending: 0 }
    lengths.set(workspaceId, length)
    return length
  }

  return {
    async write(workspaceId, more, write) {
      if (more <= 0) return await write()
      const length = lengthOf(workspaceId)
      const uncounted = () => length.written + length.pending + more
      const hasRoom = () => length.read + uncounted() <= max
      if (!hasRoom() || uncounted() > max * uncountedPart) await reads.ask(workspaceId)
      if (!hasRoom()) {
        const what = 'bytes of endpoints, sources and plugins'
        throw new PosthornError('validation', `maximum number of ${what} of a workspace is ${max}`)
      }
      length.pending += more
      try {
        return await write()
      } finally {
        length.pending -= more
        length.written += more
      }
    },
  }
}
