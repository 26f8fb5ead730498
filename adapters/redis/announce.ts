import { firstRestMs, restAfter } from '../../src/core/announcement-rest.ts'
import type { Connection } from './client.ts'
import { letExit } from './timers.ts'

export interface Announcer {
  /** A name in each announcement, by which an announcer knows its own announcements from others. */
  readonly origin: string
  announce(): void
}

/**
 * Announces to all processes that something was added: at once, and after a rest what came during the rest (see
 * `restAfter`). An announcement is a hint: nobody waits for it, its failure is ignored, and it keeps no process alive.
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
