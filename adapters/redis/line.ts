import type { RedisClient } from './redis-client.ts'

/** A connection that takes commands, whichever library made the client. */
export interface Line {
  /** `args` without the command's name. */
  send(command: string, args: readonly string[]): Promise<unknown>
}

/** A connection of our own. */
export interface OwnLine extends Line {
  close(): void
}

export function hostLine(client: RedisClient): Line {
  return {
    send: (command, args) =>
      'call' in client ? client.call(command, ...args) : client.sendCommand([command, ...args]),
  }
}

/** A duplicate of the host's client, which connects by itself; null where the client has no `duplicate`. */
export function standInFor(client: RedisClient): OwnLine | null {
  if ('call' in client) {
    const line = client.duplicate?.()
    if (line === undefined) return null
    line.on('error', () => {}) // without a listener ioredis prints the errors of a connection
    return { send: (command, args) => line.call(command, ...args), close: () => line.disconnect() }
  }
  const line = client.duplicate()
  line.on('error', () => {}) // without a listener an error of the connection would end the process
  line.connect().catch(() => {}) // commands fail then, or wait
  return { send: (command, args) => line.sendCommand([command, ...args]), close: () => line.destroy() }
}

/** Whether the host closed the client for good. */
export function isEnded(client: RedisClient): boolean {
  return 'call' in client ? client.status === 'end' : client.isOpen === false
}
