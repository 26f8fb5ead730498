/**
 * `ioredis`, or a wrapper of any other client: `{ call: (command, ...args) => bun.send(command, args) }`. Without
 * `duplicate` there are no wake-ups, workers poll, and a connection that stops answering cannot be replaced.
 */
export interface CallingClient {
  call(command: string, ...args: string[]): Promise<unknown>
  duplicate?(): CallingSubscriber
  /** `end`: the host closed the client for good. */
  readonly status?: string
}

/** What a duplicate of an `ioredis` client is asked for: to listen, or to stand in for the client. It connects by itself. */
export interface CallingSubscriber {
  call(command: string, ...args: string[]): Promise<unknown>
  on(event: 'message', listener: (channel: string, message: string) => void): unknown
  on(event: 'ready' | 'error', listener: () => void): unknown
  subscribe(...channels: string[]): Promise<unknown>
  disconnect(): void
}

/** A client of `redis` or `@redis/client`. The host connects the client, and listens to the client's `error` events. */
export interface SendingClient {
  sendCommand(args: readonly string[]): Promise<unknown>
  duplicate(): SendingSubscriber
  /** False: the host closed the client for good. */
  readonly isOpen?: boolean
}

/** What a duplicate of such a client is asked for: to listen, or to stand in for the client. */
export interface SendingSubscriber {
  sendCommand(args: readonly string[]): Promise<unknown>
  on(event: 'ready' | 'error', listener: () => void): unknown
  connect(): Promise<unknown>
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>
  destroy(): void
}

/** The host's own client: of `ioredis`, of `redis` (`@redis/client`), or anything with `call(command, ...args)`. */
export type RedisClient = CallingClient | SendingClient
