import { within } from './deadline.ts'
import type { Line, OwnLine } from './line.ts'
import { pause } from './timers.ts'

/** How long a stand-in may take to connect and answer PING. */
const proofMs = 2_000

/** A duplicate of the host's client that is used until the client answers again. */
export interface StandIn extends OwnLine {
  /** Closes the connection when the last command is answered, or after the deadline. */
  closeWhenIdle(): Promise<void>
}

export function countingLine(own: OwnLine): StandIn {
  const waiting = new Set<Promise<unknown>>()
  return {
    close: own.close,
    async send(command, args) {
      const answer = own.send(command, args)
      waiting.add(answer)
      try {
        return await answer
      } finally {
        waiting.delete(answer)
      }
    },
    async closeWhenIdle() {
      await within(Promise.allSettled(waiting)).catch(() => {})
      own.close()
    },
  }
}

/** A client that does not queue commands refuses them until it is connected. */
export async function answers(line: Line): Promise<boolean> {
  let isOver = false
  const ask = async (): Promise<boolean> => {
    while (!isOver) {
      try {
        await line.send('PING', [])
        return true
      } catch {
        await pause(50)
      }
    }
    return false
  }
  try {
    return await within(ask(), proofMs)
  } catch {
    return false
  } finally {
    isOver = true
  }
}
