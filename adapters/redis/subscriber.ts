import type { RedisClient } from './redis-client.ts'
import { within } from './deadline.ts'

/** A connection that hears messages. It connects again by itself. */
export interface Subscriber {
  /** Subscribing twice is fine. */
  subscribe(channel: string): Promise<unknown>
  close(): void
}

/** `back` is called when the connection was lost and works again. @throws what the client throws */
export async function subscriberOf(
  client: RedisClient,
  tell: (channel: string, message: string) => void,
  back: () => void,
): Promise<Subscriber> {
  if ('call' in client) return await calling(client, tell, back)
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

async function calling(
  client: Extract<RedisClient, { call: unknown }>,
  tell: (channel: string, message: string) => void,
  back: () => void,
): Promise<Subscriber> {
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
