import type { Connection } from './client.ts'
import { letExit } from './timers.ts'

/** The least time between two announcements of one process, milliseconds. */
const everyMs = 50

export interface Announcer {
  /** What its announcements carry, so that its own are known from those of others. */
  readonly origin: string
  announce(): void
}

/**
 * Tells all processes that something was added: at once, and at most once in 50 ms, the last one never left out.
 * It is a hint, so nobody waits for it, its failure is nobody's, and it keeps no process alive.
 */
export function announcer(connection: Connection, channel: string): Announcer {
  const origin = crypto.randomUUID()
  let resting = false
  let again = false
  const announce = (): void => {
    if (resting) {
      again = true
      return
    }
    resting = true
    connection.send('PUBLISH', [channel, origin], false).catch(() => {})
    const timer: unknown = setTimeout(() => {
      resting = false
      if (!again) return
      again = false
      announce()
    }, everyMs)
    letExit(timer)
  }
  return { origin, announce }
}
