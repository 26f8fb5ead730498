import { translated, wasLost } from './answers.ts'
import { within } from './deadline.ts'
import { linesOf } from './silent-connection.ts'
import type { RedisClient } from './redis-client.ts'

/**
 * The host's client, used the same way whichever library made it. A connection that stops answering is replaced
 * meanwhile.
 */
export interface Connection {
  readonly client: RedisClient
  /**
   * Sends one command. `again`: the command may run twice, so it is sent once more if the connection was lost.
   * `late` gets an answer that comes after the caller got `unavailable`.
   *
   * @throws PosthornError `unavailable` when Redis is away or refuses to serve. What else Redis answers is passed on.
   */
  send(command: string, args: readonly string[], again: boolean, late?: (answer: unknown) => void): Promise<unknown>
  /** Commands without an answer yet. */
  pending(): number
  /** Connections open now for commands: that of the host, and at times a stand-in. */
  connections(): number
  /** What the client lacks so that its connection could be replaced, as a sentence; null when nothing is missing. */
  readonly advice: string | null
  /** Calls `replaced` each time another connection takes over. */
  onReplaced(replaced: () => void): void
  /** Closes the stand-in, if the connection uses a stand-in. */
  close(): void
}

export function connect(client: RedisClient): Connection {
  let pending = 0
  const lines = linesOf(client)

  /** The deadline counts from the call, whether the command is sent at once or waits for a connection that answers. */
  async function once(command: string, args: readonly string[], late: (answer: unknown) => void): Promise<unknown> {
    const asker = { isGone: false }
    pending++
    try {
      return await within(lines.send(command, args, asker, late))
    } finally {
      asker.isGone = true
      pending--
    }
  }

  return {
    client,
    pending: () => pending,
    connections: lines.count,
    advice: lines.advice,
    onReplaced: lines.onReplaced,
    close: lines.close,
    async send(command, args, again, late = () => {}) {
      try {
        return await once(command, args, late).catch((error: unknown) => {
          if (again && wasLost(error)) return once(command, args, late)
          throw error
        })
      } catch (error) {
        throw translated(error)
      }
    },
  }
}
