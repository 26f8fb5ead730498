import { PosthornError } from '../../src/errors.ts'
import { type RedisClient, within } from './client.ts'

/** Messages of other processes, on one connection of its own that is open while somebody listens. */
export interface Ear {
  /** Whether the client can be duplicated at all. */
  readonly able: boolean
  /** `heard` gets each message, and null after the connection was lost for a while. Answers how to stop. */
  listen(channel: string, heard: (message: string | null) => void): Promise<() => Promise<void>>
  /** Connections open now: none or one. */
  connections(): number
  close(): void
}

interface Line {
  subscribe(channel: string): Promise<unknown>
  close(): void
}

export function ear(client: RedisClient): Ear {
  const listeners = new Map<string, Set<(message: string | null) => void>>()
  let line: Promise<Line> | undefined

  const tell = (channel: string, message: string | null): void => {
    for (const heard of listeners.get(channel) ?? []) heard(message)
  }
  const tellAll = (): void => {
    for (const channel of listeners.keys()) tell(channel, null)
  }
  const hangUp = (): void => {
    const ended = line
    line = undefined
    listeners.clear()
    // A line that never opened has nothing to close.
    void ended?.then(
      (open) => open.close(),
      () => {},
    )
  }

  return {
    able: typeof client.duplicate === 'function',
    connections: () => (line === undefined ? 0 : 1),
    close: hangUp,
    async listen(channel, heard) {
      line ??= open(client, tell, tellAll)
      const mine = line
      const others = listeners.get(channel)
      const all = others ?? new Set()
      listeners.set(channel, all.add(heard))
      const stop = (): void => {
        all.delete(heard)
        if (all.size === 0 && listeners.get(channel) === all) listeners.delete(channel)
        if (listeners.size === 0 && line === mine) hangUp()
      }
      try {
        await within(mine.then((open) => open.subscribe(channel)))
      } catch (error) {
        stop()
        throw new PosthornError('unavailable', 'Redis could not be listened to', { cause: error })
      }
      return async () => stop()
    },
  }
}

async function open(
  client: RedisClient,
  tell: (channel: string, message: string) => void,
  back: () => void,
): Promise<Line> {
  if (!('call' in client)) {
    const line = client.duplicate()
    const subscribed = new Map<string, Promise<unknown>>()
    // Without a listener the error of a lost connection would end the process. The client reconnects by itself.
    line.on('error', () => {})
    try {
      await within(line.connect())
    } catch (error) {
      line.destroy()
      throw error
    }
    line.on('ready', back)
    return {
      subscribe(channel) {
        const known = subscribed.get(channel) ?? line.subscribe(channel, (message) => tell(channel, message))
        subscribed.set(channel, known)
        return known
      },
      close: () => line.destroy(),
    }
  }
  const line = client.duplicate?.()
  if (line === undefined) throw new Error('The client cannot be duplicated')
  let subscribed = false
  line.on('error', () => {})
  line.on('message', (channel, message) => tell(channel, message))
  line.on('ready', () => {
    if (subscribed) back()
  })
  return {
    async subscribe(channel) {
      await line.subscribe(channel)
      subscribed = true
    },
    close: () => line.disconnect(),
  }
}
