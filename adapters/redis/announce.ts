import { firstRestMs, restAfter } from '../../src/core/announcement-rest.ts'
import type { Connection } from './client.ts'
import { letExit } from './timers.ts'

export interface Announcer {
  /** What its announcements carry, so that its own are known from those of others. */
  readonly origin: string
  announce(): void
}

/**
 * Tells all processes that something was added: at once, and after a rest what came during it (see `restAfter`).
 * It is a hint, so nobody waits for it, its failure is nobody's, and it keeps no process alive.
 */
export function announcer(connection: Connection, channel: string): Announcer {
  const origin = crypto.randomUUID()
  let resting = false
  let again = false
  let restMs = firstRestMs
  const announce = (): void => {
    if (resting) {
      again = true
      return
    }
    resting = true
    connection.send('PUBLISH', [channel, origin], false).catch(() => {})
    const timer: unknown = setTimeout(() => {
      resting = false
      restMs = restAfter(restMs, again)
      if (!again) return
      again = false
      announce()
    }, restMs)
    letExit(timer)
  }
  return { origin, announce }
}
